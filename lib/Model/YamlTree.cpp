//===- YamlTree.cpp - A strict subset of YAML, with places ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "YamlTree.h"
#include "hexad/Model/Json.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include <cmath>

using namespace mlir;
using namespace hexad;
namespace yaml = llvm::yaml;

/// Deeper than any description; ends nested bombs while the stream is lazy.
static constexpr unsigned maxDepth = 64;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// What is left of `text` behind its leading digits.
static llvm::StringRef dropDigits(llvm::StringRef text) {
  return text.drop_while([](char c) { return llvm::isDigit(c); });
}

/// Whether `text` is an integer in JSON's spelling: no plus, no leading zeros.
static bool isInteger(llvm::StringRef text) {
  text.consume_front("-");
  return !text.empty() && dropDigits(text).empty() &&
         (text.size() == 1 || text.front() != '0');
}

/// Whether `text` is a number in JSON's spelling.
static bool isNumber(llvm::StringRef text) {
  llvm::StringRef rest = text;
  rest.consume_front("-");
  rest = dropDigits(rest);
  if (!isInteger(text.drop_back(rest.size())))
    return false;
  if (rest.consume_front(".")) {
    if (rest.empty() || !llvm::isDigit(rest.front()))
      return false;
    rest = dropDigits(rest);
  }
  if (rest.consume_front("e") || rest.consume_front("E")) {
    if (!rest.consume_front("-"))
      rest.consume_front("+");
    return !rest.empty() && dropDigits(rest).empty();
  }
  return rest.empty();
}

YamlNode::YamlNode(Location loc) : loc(loc) {}

const YamlEntry *YamlNode::find(llvm::StringRef key) const {
  for (const YamlEntry &entry : entries)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

std::string YamlNode::describe() const {
  switch (kind) {
  case Kind::Null:
    return "nothing";
  case Kind::Scalar:
    return quoteName(text);
  case Kind::Mapping:
    return entries.empty() ? "an empty mapping" : "a mapping";
  case Kind::Sequence:
    return "a sequence of " + std::to_string(items.size());
  }
  llvm_unreachable("unknown kind of node");
}

bool YamlNode::isString() const {
  return kind == Kind::Scalar &&
         (isQuoted || (!isNumber(text) && text != "true" && text != "false" &&
                       text != "null" && text != "~"));
}

std::optional<int64_t> YamlNode::getInteger() const {
  int64_t value;
  if (kind != Kind::Scalar || isQuoted || !isInteger(text) ||
      llvm::StringRef(text).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<double> YamlNode::getNumber() const {
  double value;
  if (kind != Kind::Scalar || isQuoted || !isNumber(text) ||
      !llvm::to_float(text, value) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<bool> YamlNode::getFlag() const {
  if (kind != Kind::Scalar || isQuoted || (text != "true" && text != "false"))
    return std::nullopt;
  return text == "true";
}

InFlightDiagnostic hexad::emitExpected(const YamlNode &node,
                                       const llvm::Twine &what) {
  return emitError(node.loc, "expected ")
         << what << ", found " << node.describe();
}

LogicalResult hexad::checkKeys(const YamlNode &node, llvm::StringRef what,
                               llvm::ArrayRef<llvm::StringRef> keys) {
  if (node.kind != YamlNode::Kind::Mapping)
    return emitExpected(node, "the mapping of " + what);
  for (const YamlEntry &entry : node.entries) {
    if (llvm::is_contained(keys, entry.key))
      continue;
    InFlightDiagnostic diagnostic = emitError(entry.keyLoc, "unknown key ")
                                    << quoteName(entry.key) << " in " << what
                                    << "; expected ";
    if (keys.empty())
      return diagnostic << "none";
    diagnostic << (keys.size() > 1 ? "one of " : "");
    llvm::interleaveComma(keys, diagnostic);
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

namespace {

class TreeReader {
public:
  TreeReader(llvm::StringRef text, llvm::StringRef path, MLIRContext *context)
      : text(text), path(path), context(context) {
    lineStarts.push_back(0);
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n')
        lineStarts.push_back(i + 1);
  }

  std::optional<YamlNode> read();

private:
  Location getLocation(size_t offset) const {
    auto line = llvm::upper_bound(lineStarts, offset);
    return FileLineColLoc::get(context, path, line - lineStarts.begin(),
                               offset - *(line - 1) + 1);
  }
  Location getLocation(const yaml::Node &node) const {
    const char *begin = node.getSourceRange().Start.getPointer();
    bool isInside = begin >= text.begin() && begin <= text.end();
    return getLocation(isInside ? begin - text.begin() : text.size());
  }
  /// Emits a diagnostic unless one has been emitted: after the first, the rest
  /// of the text is not to be understood.
  LogicalResult fail(Location loc, const llvm::Twine &message) {
    if (!hasFailed)
      emitError(loc, message);
    hasFailed = true;
    return failure();
  }

  LogicalResult read(yaml::Node *from, YamlNode &to, unsigned depth);
  LogicalResult readScalar(yaml::ScalarNode &from, YamlNode &to);

  llvm::StringRef text, path;
  MLIRContext *context;
  std::vector<size_t> lineStarts;
  bool hasFailed = false;
};

} // namespace

LogicalResult TreeReader::readScalar(yaml::ScalarNode &from, YamlNode &to) {
  llvm::SmallString<64> storage;
  to.kind = YamlNode::Kind::Scalar;
  to.text = from.getValue(storage).str();
  llvm::StringRef raw = from.getRawValue();
  to.isQuoted = raw.starts_with("'") || raw.starts_with("\"");
  // Escapes of surrogates give bytes that are no text.
  if (!llvm::json::isUTF8(to.text))
    return fail(to.loc, "expected valid UTF-8");
  if (to.text.find('\0') != std::string::npos)
    return fail(to.loc, "expected text without null characters");
  return success();
}

LogicalResult TreeReader::read(yaml::Node *from, YamlNode &to, unsigned depth) {
  if (!from || from->failed())
    return fail(to.loc, "malformed YAML");
  if (depth > maxDepth)
    return fail(to.loc,
                "nested deeper than " + llvm::Twine(maxDepth) + " levels");
  if (!from->getAnchor().empty())
    return fail(to.loc, "anchors are not supported");
  if (!from->getRawTag().empty())
    return fail(to.loc, "tags are not supported");
  if (llvm::isa<yaml::NullNode>(from))
    return success();
  if (auto *scalar = llvm::dyn_cast<yaml::ScalarNode>(from))
    return readScalar(*scalar, to);
  if (auto *sequence = llvm::dyn_cast<yaml::SequenceNode>(from)) {
    to.kind = YamlNode::Kind::Sequence;
    for (yaml::Node &item : *sequence) {
      to.items.emplace_back(getLocation(item));
      if (failed(read(&item, to.items.back(), depth + 1)))
        return failure();
    }
    return success(!from->failed());
  }
  auto *mapping = llvm::dyn_cast<yaml::MappingNode>(from);
  if (!mapping)
    return fail(to.loc, llvm::isa<yaml::AliasNode>(from)
                            ? "aliases are not supported"
                            : "block scalars are not supported");
  to.kind = YamlNode::Kind::Mapping;
  llvm::StringMap<Location> keys;
  for (yaml::KeyValueNode &entry : *mapping) {
    yaml::Node *keyNode = entry.getKey();
    if (!keyNode || keyNode->failed())
      return fail(to.loc, "malformed YAML");
    YamlNode key(getLocation(*keyNode));
    if (!llvm::isa<yaml::ScalarNode>(keyNode))
      return fail(key.loc, "expected a key");
    if (failed(read(keyNode, key, depth + 1)))
      return failure();
    auto [first, isNew] = keys.try_emplace(key.text, key.loc);
    if (!isNew) {
      if (!hasFailed) {
        InFlightDiagnostic diagnostic = emitError(key.loc, "the key ")
                                        << quoteName(key.text)
                                        << " occurs twice";
        diagnostic.attachNote(first->second) << "the first is here";
      }
      hasFailed = true;
      return failure();
    }
    yaml::Node *value = entry.getValue();
    if (!value)
      return fail(key.loc, "malformed YAML");
    // A collection's range begins behind its bracket, and what is left empty
    // has none: the key is the better place.
    Location loc =
        llvm::isa<yaml::ScalarNode>(value) ? getLocation(*value) : key.loc;
    to.entries.push_back({key.text, key.loc, YamlNode(loc)});
    if (failed(read(value, to.entries.back().value, depth + 1)))
      return failure();
  }
  return success(!from->failed());
}

std::optional<YamlNode> TreeReader::read() {
  if (!llvm::json::isUTF8(text)) {
    size_t offset = 0;
    llvm::json::isUTF8(text, &offset);
    (void)fail(getLocation(std::min(offset, text.size())),
               "expected valid UTF-8");
    return std::nullopt;
  }
  llvm::SourceMgr sources;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &diagnostic, void *self) {
        auto *reader = static_cast<TreeReader *>(self);
        (void)reader->fail(
            FileLineColLoc::get(reader->context, reader->path,
                                std::max(diagnostic.getLineNo(), 0),
                                std::max(diagnostic.getColumnNo() + 1, 0)),
            "malformed YAML: " + diagnostic.getMessage());
      },
      this);
  yaml::Stream stream(llvm::MemoryBufferRef(text, path), sources,
                      /*ShowColors=*/false);
  yaml::document_iterator document = stream.begin();
  YamlNode root(getLocation(0));
  if (document == stream.end())
    return root;
  if (failed(read(document->getRoot(), root, 1)))
    return (void)fail(root.loc, "malformed YAML"), std::nullopt;
  ++document;
  if (document != stream.end() && !stream.failed()) {
    yaml::Node *next = document->getRoot();
    (void)fail(next ? getLocation(*next) : getLocation(text.size()),
               "expected one document, found another");
    return std::nullopt;
  }
  if (stream.failed() || hasFailed)
    return (void)fail(root.loc, "malformed YAML"), std::nullopt;
  return root;
}

std::optional<YamlNode> hexad::readYaml(llvm::StringRef text,
                                        llvm::StringRef path,
                                        MLIRContext *context) {
  return TreeReader(text, path, context).read();
}
