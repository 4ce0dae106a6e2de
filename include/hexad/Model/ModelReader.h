//===- ModelReader.h - From a user's files to hexad IR ----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_MODELREADER_H
#define HEXAD_MODEL_MODELREADER_H

#include "hexad/Model/GridSize.h"
#include "hexad/Model/WeightsType.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>
#include <string>

namespace hexad {

struct ReadOptions {
  /// Module name; the description's or folder's own name if empty.
  std::string name;
  /// Outputs asked for beside the model's own, e.g. "hidden".
  llvm::SmallVector<std::string> outputs;
  /// Height and width of images, if they are to be others than the model's.
  std::optional<GridSize> imageSize;
  /// What matrices are stored in.
  WeightsType weightsType = WeightsType::F32;
};

/// Reads a YAML description (.yaml, .yml), a checkpoint folder, or a .mlir file
/// and checks every parameter's recipe against the safetensors files that it
/// names. On failure a located diagnostic has been emitted and the result is
/// null. `sources` receives the text buffers, for a SourceMgrDiagnosticHandler.
mlir::OwningOpRef<mlir::ModuleOp> readModel(llvm::StringRef path,
                                            const ReadOptions &options,
                                            llvm::SourceMgr &sources,
                                            mlir::MLIRContext *context);

/// Parses a .mlir file that need not be a whole model, with the same guards
/// against texts that would overflow the stack. Emits a diagnostic and gives
/// null on failure.
mlir::OwningOpRef<mlir::ModuleOp> parseIR(llvm::StringRef path,
                                          llvm::SourceMgr &sources,
                                          mlir::MLIRContext *context);

/// The folder that parameter files are relative to.
std::string getSourceFolder(llvm::StringRef path);

} // namespace hexad

#endif // HEXAD_MODEL_MODELREADER_H
