//===- DescriptionReader.h - YAML descriptions ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_DESCRIPTIONREADER_H
#define HEXAD_LIB_MODEL_DESCRIPTIONREADER_H

#include "hexad/Model/ModelReader.h"
#include "hexad/Model/ParameterRecipe.h"

namespace hexad {

/// Reads a YAML description (docs/ModelDescription.md). A stored tensor that
/// nothing reads is an error. Emits a diagnostic and gives null on failure.
mlir::OwningOpRef<mlir::ModuleOp> readDescription(llvm::StringRef path,
                                                  const ReadOptions &options,
                                                  TensorSources &tensors,
                                                  llvm::SourceMgr &sources,
                                                  mlir::MLIRContext *context);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_DESCRIPTIONREADER_H
