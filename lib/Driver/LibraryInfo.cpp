//===- LibraryInfo.cpp - Names and metadata of a library ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/LibraryInfo.h"
#include "Metadata.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace hexad;

//===----------------------------------------------------------------------===//
// Identifiers
//===----------------------------------------------------------------------===//

/// Words that cannot name a struct's field in C99 or C++.
static bool isKeyword(StringRef word) {
  static const StringSet<> keywords = {
      "alignas",  "alignof",   "and",       "asm",       "auto",     "bool",
      "break",    "case",      "catch",     "char",      "class",    "concept",
      "const",    "consteval", "constexpr", "constinit", "continue", "decltype",
      "default",  "delete",    "do",        "double",    "else",     "enum",
      "explicit", "export",    "extern",    "false",     "float",    "for",
      "friend",   "goto",      "if",        "inline",    "int",      "long",
      "mutable",  "namespace", "new",       "noexcept",  "not",      "nullptr",
      "operator", "or",        "private",   "protected", "public",   "register",
      "requires", "restrict",  "return",    "short",     "signed",   "sizeof",
      "static",   "struct",    "switch",    "template",  "this",     "throw",
      "true",     "try",       "typedef",   "typeid",    "typename", "union",
      "unsigned", "using",     "virtual",   "void",      "volatile", "while",
      "xor"};
  return keywords.contains(word);
}

std::string hexad::makeCName(StringRef name) {
  std::string result;
  for (char c : name) {
    if (isAlnum(c))
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  if (!result.empty() && isDigit(result.front()))
    result = "m_" + result;
  if (isKeyword(result))
    result += "_";
  return result;
}

Error hexad::assignIdentifiers(LibraryInfo &info) {
  info.prefix = makeCName(info.name);
  if (info.prefix.empty())
    return createStringError("no identifier can be made from the model's name "
                             "'%s'; give another one with --name",
                             info.name.c_str());
  // Leaves room for prefixes, suffixes and the random part of temporary names
  // in the 255 bytes of a file name.
  if (info.prefix.size() > 200)
    return createStringError("the model's name is longer than 200 characters; "
                             "give another one with --name");
  StringSet<> taken = {"batch", "seq"};
  auto assign = [&](StringRef kind, StringRef name,
                    std::string &field) -> Error {
    field = makeCName(name);
    if (field.empty())
      return createStringError(
          formatv("no identifier can be made from the name of the {0} '{1}'",
                  kind, name));
    if (!taken.insert(field).second)
      return createStringError(formatv(
          "the name of the {0} '{1}' is taken in the arguments", kind, name));
    return Error::success();
  };
  for (InputInfo &input : info.inputs)
    if (Error error = assign("input", input.name, input.field))
      return error;
  for (OutputInfo &output : info.outputs)
    if (Error error = assign("output", output.name, output.field))
      return error;
  return Error::success();
}

ArrayRef<StringRef> hexad::getExportedFunctions(const LibraryInfo &info) {
  static const StringRef functions[] = {"model_create",
                                        "model_destroy",
                                        "context_size",
                                        "context_create",
                                        "context_destroy",
                                        "context_message",
                                        "forward",
                                        "forward_on",
                                        "status_text",
                                        "session_size",
                                        "session_create",
                                        "session_destroy",
                                        "session_message",
                                        "session_position",
                                        "session_rewind",
                                        "session_fork",
                                        "session_saved_size",
                                        "session_save",
                                        "session_load",
                                        "extend",
                                        "extend_batch",
                                        "extend_on"};
  // Sessions are for models that keep something.
  return info.caches.empty() ? ArrayRef(functions).take_front(9)
                             : ArrayRef(functions);
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// The name of a kind in its table.
template <typename Table, typename Kind>
static StringRef getKindName(const Table &table, Kind kind) {
  return llvm::find_if(table, [&](auto &entry) { return entry.first == kind; })
      ->second;
}

std::string hexad::generateMetadata(const LibraryInfo &info) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attribute("hexad_metadata", metadataVersion);
    json.attribute("tool", info.toolVersion);
    json.attribute("name", info.name);
    json.attribute("prefix", info.prefix);
    json.attribute("parameters", info.parameterCount);
    json.attribute("active_parameters", info.activeParameterCount);
    json.attribute("position_limit", info.positionLimit);
    json.attributeArray("inputs", [&] {
      for (const InputInfo &input : info.inputs)
        json.object([&] {
          json.attribute("name", input.name);
          json.attribute("kind", getKindName(inputKinds, input.kind));
          if (input.kind == HEXAD_INPUT_IMAGE) {
            json.attribute("type", "f32");
            json.attribute("shape", json::Array({"batch", input.channels,
                                                 input.height, input.width}));
            json.attribute("tokens", input.tokens);
          } else {
            json.attribute("type", "i32");
            json::Array shape({"batch"});
            if (input.kind != HEXAD_INPUT_SEGMENT_LABELS)
              shape.push_back("seq");
            json.attribute("shape", std::move(shape));
          }
          json.attribute("optional", input.optional);
          if (input.kind != HEXAD_INPUT_MASK)
            json.attribute("limit", input.limit);
        });
    });
    json.attributeArray("outputs", [&] {
      for (const OutputInfo &output : info.outputs)
        json.object([&] {
          json.attribute("name", output.name);
          json.attribute("kind", getKindName(outputKinds, output.kind));
          json.attribute("type", "f32");
          json::Array shape;
          if (output.stacked)
            shape.push_back(output.count);
          json::Value seq = info.getImageTokens()
                                ? json::Value(info.getImageTokens())
                                : json::Value("seq");
          if (output.kind != HEXAD_OUTPUT_SCALAR) {
            shape.push_back("batch");
            if (output.kind != HEXAD_OUTPUT_POOLED)
              shape.push_back(seq);
            shape.push_back(output.columns);
          }
          if (output.kind == HEXAD_OUTPUT_MAPS)
            shape =
                json::Array({output.count, "batch", output.columns, seq, seq});
          json.attribute("shape", std::move(shape));
          json.attribute("stacked", output.stacked);
        });
    });
    json.attributeArray("caches", [&] {
      for (const hexad_cache_info &cache : info.caches)
        json.object([&] {
          json.attribute("page_bytes", cache.page_bytes);
          json.attribute("layers", cache.layers);
          json.attribute("window", cache.window);
          json.attribute("kept", cache.kept);
        });
    });
    json.attributeObject("target", [&] {
      json.attribute("cpu", info.cpu);
      json.attribute("features", info.features);
      json.attribute("vector_bits", info.vectorBits);
      json.attribute("tile_rows", info.tileRows);
      json.attribute("query_tile", info.queryTile);
      json.attribute("page", info.page);
    });
    json.attributeObject("weights", [&] {
      json.attribute("file", info.weightsFile);
      json.attribute("bytes", info.weightsBytes);
      json.attribute("type", info.weightsType);
      // JSON numbers are not exact to 64 bits everywhere.
      json.attribute("fingerprint",
                     formatv("{0:x-16}", info.fingerprint).str());
    });
  });
  return text;
}
