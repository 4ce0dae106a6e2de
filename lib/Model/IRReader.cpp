//===- IRReader.cpp - Models in .mlir files -------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IRReader.h"
#include "TextFile.h"
#include "hexad/Model/Json.h"
#include "hexad/Model/ModelInterface.h"
#include "hexad/Model/SourceDiagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace hexad;

/// A file of a thousand layers is smaller.
static constexpr uint64_t maxBytes = 64 << 20;

namespace {

/// Finds what would overflow the stack of MLIR's recursive parser and of the
/// walks behind it: deep brackets, deep chains of aliases, and the affine
/// expressions that a model has no use for.
class NestingCheck {
public:
  explicit NestingCheck(llvm::StringRef text) : text(text) {}

  /// The offset of the first offence, and the message about it.
  std::optional<std::pair<size_t, std::string>> run();

private:
  /// Deeper than any model.
  static constexpr unsigned maxDepth = 200;

  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
  }
  void skipComment() { at = std::min(text.find('\n', at), text.size()); }
  llvm::StringRef takeWord() {
    size_t end = at + 1;
    while (end < text.size() && (llvm::isAlnum(text[end]) ||
                                 llvm::StringRef("_$.-").contains(text[end])))
      ++end;
    llvm::StringRef word = text.slice(at, end);
    at = end - 1;
    return word;
  }
  void visitAlias(llvm::StringRef name);

  llvm::StringRef text;
  size_t at = 0;
  unsigned brackets = 0, angles = 0;
  llvm::StringMap<unsigned> aliasDepths;
  llvm::StringRef definition; ///< the alias that is being defined
};

} // namespace

void NestingCheck::visitAlias(llvm::StringRef name) {
  llvm::StringRef rest = text.drop_front(at + 1).ltrim(" \t\r\n");
  if (brackets == 0 && angles == 0 && rest.starts_with("=")) {
    definition = name;
    aliasDepths.try_emplace(name, 1);
    return;
  }
  auto used = aliasDepths.find(name);
  if (used == aliasDepths.end() || definition.empty())
    return;
  unsigned &depth = aliasDepths[definition];
  depth = std::max(depth, used->second + 1);
}

std::optional<std::pair<size_t, std::string>> NestingCheck::run() {
  for (; at < text.size(); ++at) {
    size_t begin = at;
    char c = text[at];
    if (c == '"') {
      skipString();
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      skipComment();
    } else if (c == '(' || c == '[' || c == '{') {
      ++brackets;
    } else if (c == ')' || c == ']' || c == '}') {
      brackets -= brackets > 0;
    } else if (c == '<') {
      ++angles;
    } else if (c == '>') {
      // Neither `->` nor `>=` closes anything.
      bool closes = (at == 0 || text[at - 1] != '-') &&
                    !text.substr(at + 1).starts_with("=");
      angles -= closes && angles > 0;
    } else if (c == '#' || c == '!') {
      llvm::StringRef name = takeWord();
      visitAlias(name);
      auto depth = aliasDepths.find(definition);
      if (depth != aliasDepths.end() && depth->second > maxDepth)
        return {{begin, "aliases nested deeper than " +
                            std::to_string(maxDepth) + " levels"}};
    } else if (llvm::isAlpha(c) || c == '_') {
      llvm::StringRef word = takeWord();
      if (word == "affine_map" || word == "affine_set")
        return {{begin, "an " + word.str() + " cannot be part of a model"}};
    }
    if (brackets + angles > maxDepth)
      return {{begin,
               "nested deeper than " + std::to_string(maxDepth) + " levels"}};
  }
  return std::nullopt;
}

OwningOpRef<ModuleOp> hexad::parseIR(llvm::StringRef path,
                                     llvm::SourceMgr &sources,
                                     MLIRContext *context) {
  std::optional<llvm::StringRef> text =
      openTextFile(path, maxBytes, sources, context);
  if (!text)
    return nullptr;
  auto fail = [&](size_t offset, const llvm::Twine &message) {
    llvm::StringRef before = text->take_front(offset);
    size_t lineStart = before.rfind('\n') + 1;
    emitError(FileLineColLoc::get(context, path, before.count('\n') + 1,
                                  offset - lineStart + 1),
              message);
    return nullptr;
  };
  // Bytecode, above all, is not a text whose depth we can see.
  size_t unprintable = text->find('\0');
  if (unprintable != llvm::StringRef::npos || text->starts_with("ML\xefR"))
    return fail(0, "expected a text of MLIR");
  if (text->trim().empty())
    return fail(0, "expected a model, found an empty file");
  if (auto offence = NestingCheck(*text).run())
    return fail(offence->first, offence->second);

  // The parser wants a buffer of its own, as the main file of its manager.
  llvm::SourceMgr parserSources;
  parserSources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(*text, path), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(parserSources, context);
}

OwningOpRef<ModuleOp> hexad::readIR(llvm::StringRef path,
                                    const ReadOptions &options,
                                    TensorSources &tensors,
                                    llvm::SourceMgr &sources,
                                    MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseIR(path, sources, context);
  if (!module || failed(verifyModelInterface(*module)) ||
      failed(verifyParameterSources(*module, tensors)))
    return nullptr;

  func::FuncOp function = getModelFunction(*module);
  if (options.imageSize) {
    emitError(getOptionLoc(context, "--image-size"),
              "an image size can be given to descriptions and checkpoint "
              "folders only");
    return nullptr;
  }
  for (llvm::StringRef output : options.outputs) {
    bool isThere = false;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      isThere |=
          cast<StringAttr>(function.getResultAttr(i, "hexad.name")) == output;
    if (!isThere) {
      InFlightDiagnostic diagnostic =
          emitError(getOptionLoc(context, "--outputs"), "there is no output ")
          << quoteName(output) << "; expected ";
      llvm::interleave(
          llvm::seq(function.getNumResults()),
          [&](unsigned i) {
            diagnostic << "'"
                       << cast<StringAttr>(
                              function.getResultAttr(i, "hexad.name"))
                              .getValue()
                       << "'";
          },
          [&] { diagnostic << ", "; });
      return nullptr;
    }
  }
  return module;
}
