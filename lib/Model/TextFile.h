//===- TextFile.h - A text file that diagnostics can show -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_TEXTFILE_H
#define HEXAD_LIB_MODEL_TEXTFILE_H

#include "mlir/IR/Location.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>

namespace hexad {

/// Reads a text file into a buffer of `sources`, with a null character behind
/// it. Emits a diagnostic if it cannot be read or has more than `maxBytes`.
std::optional<llvm::StringRef> openTextFile(llvm::StringRef path,
                                            uint64_t maxBytes,
                                            llvm::SourceMgr &sources,
                                            mlir::MLIRContext *context);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_TEXTFILE_H
