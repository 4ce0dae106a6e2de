//===- ParameterOps.cpp - Reading parameters by their recipes -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "hexad/Model/ParameterRecipe.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

LogicalResult reference::evaluate(LoadOp op, Evaluator &evaluator) {
  auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      op, op.getParameterAttr());
  std::optional<int64_t> layer;
  if (op.getLayer()) {
    layer = evaluator.getInteger(op.getLayer());
    if (*layer < 0 || *layer >= parameter.getLayerCount())
      return op.emitOpError("expected a layer below ")
             << parameter.getLayerCount() << ", found " << *layer;
  }
  FailureOr<FloatTensor> value = evaluator.parameters(parameter, layer);
  if (failed(value))
    return failure();
  return evaluator.set(op.getResult(), std::move(*value));
}

ParameterSource reference::noParameters() {
  return [](ParameterOp parameter,
            std::optional<int64_t>) -> FailureOr<FloatTensor> {
    return parameter.emitOpError("has no values here");
  };
}

namespace {
/// Recipes are resolved when a parameter is first asked for. Shared by the
/// copies of a source.
struct ParameterReader {
  explicit ParameterReader(StringRef folder) : sources(folder) {}

  FailureOr<FloatTensor> read(ParameterOp parameter,
                              std::optional<int64_t> layer);

  TensorSources sources;
  llvm::DenseMap<Operation *, ParameterRecipe> recipes;
};
} // namespace

FailureOr<FloatTensor> ParameterReader::read(ParameterOp parameter,
                                             std::optional<int64_t> layer) {
  auto found = recipes.find(parameter);
  if (found == recipes.end()) {
    FailureOr<ParameterRecipe> recipe =
        ParameterRecipe::resolve(parameter, sources);
    if (failed(recipe))
      return failure();
    if (!recipe->isPlain())
      return parameter.emitOpError("is packed for kernels; the reference "
                                   "reads parameters as the model has them");
    found = recipes.try_emplace(parameter, std::move(*recipe)).first;
  }
  RankedTensorType type =
      layer ? parameter.getLayerType() : parameter.getTensorType();
  if (failed(checkSize(parameter, type.getShape())))
    return failure();
  FloatTensor tensor;
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  int64_t begin = layer.value_or(0);
  int64_t end = layer ? *layer + 1 : parameter.getLayerCount();
  for (int64_t i = begin; i < end; ++i) {
    FailureOr<std::vector<double>> elements = found->second.readLayer(i);
    if (failed(elements))
      return failure();
    llvm::append_range(tensor.elements, *elements);
  }
  return tensor;
}

ParameterSource reference::readParametersFrom(StringRef folder) {
  return [reader = std::make_shared<ParameterReader>(folder)](
             ParameterOp parameter, std::optional<int64_t> layer) {
    return reader->read(parameter, layer);
  };
}
