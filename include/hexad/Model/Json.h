//===- Json.h - What llvm::json does not check ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_JSON_H
#define HEXAD_MODEL_JSON_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace hexad {

/// Called with the depth of a key (1 for those of the outermost object), the
/// key and the offset of its first character.
using JsonKeyCallback =
    llvm::function_ref<void(unsigned depth, llvm::StringRef key, size_t at)>;

/// Finds what llvm::json does not: brackets nested deeper than `maxDepth` (its
/// recursion would overflow the stack) and keys that occur twice in an object
/// (it silently keeps the last). Malformed text passes: the parser says more
/// about it. On failure `*errorOffset` is the place in the text.
llvm::Error scanJson(llvm::StringRef text, unsigned maxDepth,
                     JsonKeyCallback onKey = nullptr,
                     size_t *errorOffset = nullptr);

/// A name from a file that anyone may have written, for a message: escaped, of
/// bounded length, in quotes.
std::string quoteName(llvm::StringRef name);

} // namespace hexad

#endif // HEXAD_MODEL_JSON_H
