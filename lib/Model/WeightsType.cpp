//===- WeightsType.cpp - In which type weights are stored -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/WeightsType.h"
#include "hexad/Model/ParameterRecipe.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad;

llvm::StringRef hexad::getWeightsTypeName(WeightsType type) {
  // In the order of the enum.
  static constexpr llvm::StringLiteral names[] = {"f32", "bf16", "f16",
                                                  "stored"};
  return names[static_cast<size_t>(type)];
}

llvm::ArrayRef<WeightsType> hexad::getAllWeightsTypes() {
  static constexpr WeightsType types[] = {WeightsType::F32, WeightsType::BF16,
                                          WeightsType::F16,
                                          WeightsType::Stored};
  return types;
}

std::optional<WeightsType> hexad::parseWeightsType(llvm::StringRef name) {
  for (WeightsType type : getAllWeightsTypes())
    if (getWeightsTypeName(type) == name)
      return type;
  return std::nullopt;
}

/// Whether a parameter's value is used as a large matrix is.
static bool isLargeMatrix(OpOperand &use) {
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](LinearOp linear) {
        return use == linear.getWeightMutable() &&
               llvm::none_of(linear->getUsers(), llvm::IsaPred<RouteOp>);
      })
      .Case([&](PatchifyOp patchify) {
        return use == patchify.getWeightMutable();
      })
      .Case([&](EmbeddingOp embedding) {
        return use == embedding.getTableMutable() &&
               embedding.getIds().getDefiningOp<PackRowsOp>();
      })
      .Default(false);
}

/// The parameters that are nothing but large matrices.
static llvm::SetVector<ParameterOp> findLargeMatrices(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<ParameterOp> matrices;
  llvm::SmallPtrSet<Operation *, 8> others;
  module.walk([&](LoadOp load) {
    auto parameter = symbols.lookup<ParameterOp>(load.getParameter());
    matrices.insert(parameter);
    for (OpOperand &use : load->getUses())
      if (!isLargeMatrix(use))
        others.insert(parameter);
  });
  matrices.remove_if(
      [&](ParameterOp parameter) { return others.contains(parameter); });
  return matrices;
}

/// The type of 16 bits that all tensors of a parameter have; null if they have
/// none.
static FailureOr<Type> getSourceType(ParameterOp parameter,
                                     TensorSources &sources) {
  FailureOr<ParameterRecipe> recipe =
      ParameterRecipe::resolve(parameter, sources);
  if (failed(recipe))
    return failure();
  Builder builder(parameter.getContext());
  if (recipe->getSourceType() == StoredType::BF16)
    return Type(builder.getBF16Type());
  if (recipe->getSourceType() == StoredType::F16)
    return Type(builder.getF16Type());
  return Type();
}

LogicalResult hexad::setWeightsType(ModuleOp module, WeightsType type,
                                    TensorSources &sources) {
  if (type == WeightsType::F32)
    return success();
  Builder builder(module.getContext());
  for (ParameterOp parameter : findLargeMatrices(module)) {
    // The default changes no result: what a model says by itself stays.
    if (type == WeightsType::Stored && parameter.getStorage())
      continue;
    FailureOr<Type> element = type == WeightsType::BF16
                                  ? Type(builder.getBF16Type())
                                  : Type(builder.getF16Type());
    if (type == WeightsType::Stored)
      element = getSourceType(parameter, sources);
    if (failed(element))
      return failure();
    if (*element)
      parameter.setStorage(*element);
  }
  return success();
}
