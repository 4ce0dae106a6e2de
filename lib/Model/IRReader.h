//===- IRReader.h - Models in .mlir files -----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_IRREADER_H
#define HEXAD_LIB_MODEL_IRREADER_H

#include "hexad/Model/ModelReader.h"
#include "hexad/Model/ParameterRecipe.h"

namespace hexad {

/// Parses a .mlir file of phase `hexad` and checks it. Emits a diagnostic and
/// gives null on failure.
mlir::OwningOpRef<mlir::ModuleOp>
readIR(llvm::StringRef path, const ReadOptions &options, TensorSources &tensors,
       llvm::SourceMgr &sources, mlir::MLIRContext *context);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_IRREADER_H
