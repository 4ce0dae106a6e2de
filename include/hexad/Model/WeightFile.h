//===- WeightFile.h - Writing the packed weights ----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_WEIGHTFILE_H
#define HEXAD_MODEL_WEIGHTFILE_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <functional>

namespace hexad {

struct WeightFileResult {
  uint64_t fileBytes;
  uint64_t fingerprint; ///< of the contents; also in the file's header
};

/// Writes the file of abi.h for the parameters of `module`, each at its
/// `hexad.offset` (bytes from the start of the data, set by
/// `hexad-plan-memory`), streaming tensor by tensor from the mapped safetensors
/// files in `sourceFolder`. Emits a located diagnostic on failure and leaves no
/// partial file under `path` of which the caller would not know (the caller
/// passes a temporary path). `progress(done, total)` is called in bytes.
mlir::FailureOr<WeightFileResult>
writeWeightFile(mlir::ModuleOp module, llvm::StringRef sourceFolder,
                llvm::StringRef path,
                std::function<void(uint64_t, uint64_t)> progress = {});

} // namespace hexad

#endif // HEXAD_MODEL_WEIGHTFILE_H
