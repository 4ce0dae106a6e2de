//===- WeightsType.h - In which type weights are stored ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_WEIGHTSTYPE_H
#define HEXAD_MODEL_WEIGHTSTYPE_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace hexad {

class TensorSources;

/// The type in which the weights file holds matrices. `Stored`: that of the
/// tensors they are made of.
enum class WeightsType { F32, BF16, F16, Stored };

/// The type's name in `--weights-type`.
llvm::StringRef getWeightsTypeName(WeightsType type);
std::optional<WeightsType> parseWeightsType(llvm::StringRef name);
llvm::ArrayRef<WeightsType> getAllWeightsTypes();

/// Sets the `storage` of the model's large parameters: matrices of linear ops
/// and filters, but those of routers, whose choice rounding would change, and
/// tables that ids are looked up in. `F32` changes nothing, so that a model may
/// say by itself what it wants; `Stored` changes only parameters without
/// `storage` whose stored tensors all have one type of 16 bits. Fails as
/// ParameterRecipe::resolve does.
mlir::LogicalResult setWeightsType(mlir::ModuleOp module, WeightsType type,
                                   TensorSources &sources);

} // namespace hexad

#endif // HEXAD_MODEL_WEIGHTSTYPE_H
