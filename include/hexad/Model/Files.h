//===- Files.h - Reading and writing whole files ----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_FILES_H
#define HEXAD_MODEL_FILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace hexad {

/// The bytes of a regular file, mapped if it is large; devices and pipes, which
/// would be read without end, are refused. The error is the reason only.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readRegularFile(llvm::StringRef path);

/// Makes an empty file of a new name: `stem` and random characters. Any stem
/// will do, also one with a '%'.
std::error_code createUniqueFile(const llvm::Twine &stem,
                                 llvm::SmallVectorImpl<char> &path);

/// Writes a file beside `path` and renames it when it is complete, so that an
/// older file survives a failure. Symbolic links are followed. What is not a
/// regular file (a device, a pipe) is written to, never replaced.
llvm::Error
writeOutputFile(llvm::StringRef path,
                llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace hexad

#endif // HEXAD_MODEL_FILES_H
