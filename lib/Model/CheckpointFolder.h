//===- CheckpointFolder.h - Hugging Face checkpoint folders -----*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_CHECKPOINTFOLDER_H
#define HEXAD_LIB_MODEL_CHECKPOINTFOLDER_H

#include "hexad/Model/ModelReader.h"
#include "hexad/Model/ParameterRecipe.h"

namespace hexad {

/// The folder's name as the name of a model.
std::string getFolderModelName(llvm::StringRef folder);

/// Reads `config.json` and the names of the tensors in `model.safetensors` or
/// its shards. Tensors that nothing reads are a warning. Emits a diagnostic and
/// gives null on failure.
mlir::OwningOpRef<mlir::ModuleOp>
readCheckpointFolder(llvm::StringRef folder, const ReadOptions &options,
                     TensorSources &tensors, llvm::SourceMgr &sources,
                     mlir::MLIRContext *context);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_CHECKPOINTFOLDER_H
