//===- Sanitizer.h - Compiled models that check themselves ------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_SANITIZER_H
#define HEXAD_DRIVER_SANITIZER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace llvm {
class Module;
}

namespace hexad {

/// What checks the accesses of a library, its runtime's included. The sanitizer
/// itself is part of the program that links the library: one that was built
/// with the same `-fsanitize=`.
enum class Sanitizer { None, Address, Thread };

/// "none", "address" or "thread".
llvm::StringRef getSanitizerName(Sanitizer sanitizer);
llvm::ArrayRef<Sanitizer> getAllSanitizers();
std::optional<Sanitizer> parseSanitizer(llvm::StringRef name);

/// Marks the defined functions, so that optimizations do not make accesses
/// which the sanitizer would take for mistakes. Does nothing for None.
void markForSanitizer(llvm::Module &module, Sanitizer sanitizer);
/// Inserts the checks. Behind optimization: what is checked is what becomes
/// machine code.
void instrument(llvm::Module &module, Sanitizer sanitizer);

} // namespace hexad

#endif // HEXAD_DRIVER_SANITIZER_H
