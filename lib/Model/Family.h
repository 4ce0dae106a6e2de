//===- Family.h - Model types of checkpoint folders -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_FAMILY_H
#define HEXAD_LIB_MODEL_FAMILY_H

#include "ConfigFile.h"
#include "TensorNames.h"

namespace hexad {

/// A `model_type`: what its config.json means and how its tensors are named.
struct Family {
  FamilyNames names; ///< names.family is the model_type
  ConfigKeys keys;
  llvm::ArrayRef<llvm::StringLiteral> architectures;
  /// Adds inputs and layers. Emits a diagnostic on failure.
  mlir::LogicalResult (*describe)(const ConfigFile &config,
                                  llvm::StringRef architecture,
                                  Description &description);
};

extern const Family bertFamily, dinov2Family, dinov2WithRegistersFamily,
    gemma3Family, gemma4Family, gemma4WholeFamily, gpt2Family, gptNeoxFamily,
    llamaFamily, mistralFamily, mixtralFamily, olmo2Family, qwen2Family,
    qwen3Family, qwen3MoeFamily, vitFamily;

/// All families, in alphabetical order.
llvm::ArrayRef<const Family *> getFamilies();

} // namespace hexad

#endif // HEXAD_LIB_MODEL_FAMILY_H
