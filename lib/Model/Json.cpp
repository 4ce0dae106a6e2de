//===- Json.cpp - What llvm::json does not check --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/Json.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace hexad;

std::string hexad::quoteName(StringRef name) {
  constexpr size_t longest = 200;
  std::string quoted;
  raw_string_ostream stream(quoted);
  stream << '\'';
  printEscapedString(name.take_front(longest), stream);
  stream << (name.size() > longest ? "…'" : "'");
  return quoted;
}

Error hexad::scanJson(StringRef text, unsigned maxDepth, JsonKeyCallback onKey,
                      size_t *errorOffset) {
  struct Level {
    bool isObject;
    StringSet<> keys;
  };
  auto fail = [errorOffset](size_t at, const Twine &message) {
    if (errorOffset)
      *errorOffset = at;
    return createStringError(inconvertibleErrorCode(), message);
  };
  SmallVector<Level> levels;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '{':
    case '[':
      if (levels.size() == maxDepth)
        return fail(i, "nested deeper than " + Twine(maxDepth) + " levels");
      levels.push_back({text[i] == '{', {}});
      break;
    case '}':
    case ']':
      if (levels.empty())
        return Error::success();
      levels.pop_back();
      break;
    case '"': {
      size_t begin = i;
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      if (i >= text.size())
        return Error::success();
      size_t next = text.find_first_not_of(" \t\n\r", i + 1);
      if (levels.empty() || !levels.back().isObject ||
          next == StringRef::npos || text[next] != ':')
        break;
      // Escapes can spell one key in two ways.
      std::string key = text.slice(begin + 1, i).str();
      if (StringRef(key).contains('\\')) {
        Expected<json::Value> value = json::parse(text.slice(begin, i + 1));
        if (!value) // The parser will find it too.
          return consumeError(value.takeError()), Error::success();
        key = value->getAsString().value_or("").str();
      }
      if (!levels.back().keys.insert(key).second)
        return fail(begin, "the name " + quoteName(key) + " occurs twice");
      if (onKey)
        onKey(levels.size(), key, begin);
      break;
    }
    default:
      break;
    }
  }
  return Error::success();
}
