//===- BuilderLayerInput.cpp - What each layer knows of a token -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

/// Numbers of the model's type, of float32.
static double getRoot(int64_t size) {
  return static_cast<float>(std::sqrt(static_cast<double>(size)));
}

Value ModuleBuilder::buildLayerInput(Location loc,
                                     const PerLayerInputLayer &layer,
                                     Value ids) {
  auto scale = [&](Value rows, double factor) -> Value {
    return ScaleOp::create(builder, loc, rows.getType(), rows,
                           builder.getF64FloatAttr(factor));
  };
  int64_t size = layer.size, columns = getColumns(stackInput);
  int64_t first = repeat->first * size, step = repeat->stride * size;
  Value weight = load(loc, layer.name + ".context.weight", {size, columns},
                      layer.context.weight, /*transposed=*/false,
                      {.rows = RowPick{first, size, size, /*count=*/1, step}});
  Value context =
      LinearOp::create(builder, loc, stackInput, weight, /*bias=*/Value());
  context = scale(context, 1 / std::sqrt(static_cast<double>(columns)));
  Value norm =
      load(loc, layer.name + ".norm.weight", {size}, layer.norm.weight);
  context =
      RmsNormOp::create(builder, loc, context.getType(), context, norm,
                        llvm::APFloat(layer.eps), /*offset=*/0, /*groups=*/1,
                        /*group_size=*/IntegerAttr());
  Value table = load(loc, layer.name + ".table.weight", {layer.entries, size},
                     layer.table.weight, /*transposed=*/false,
                     {.columns = ColumnPick{first, size, step}});
  Value own = EmbeddingOp::create(builder, loc, ids, table);
  Value sum = AddOp::create(builder, loc, context, scale(own, getRoot(size)));
  return scale(sum, std::sqrt(0.5));
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const PerLayerInputLayer &layer,
                     Activations x) {
  if (!repeat)
    return emitError(loc, "'per_layer_input' needs a repeat around it");
  auto input = ids.find(layer.input);
  if (input == ids.end())
    return emitError(loc, "expected the name of an input of ids, found '")
           << layer.input << "'";
  auto [limit, isNew] = limits.try_emplace(layer.input, layer.entries);
  limit->second = std::min(limit->second, layer.entries);
  Value gate = buildProjection(loc, layer.name + ".gate", x.rows, layer.size,
                               /*bias=*/false, layer.gate);
  gate = ActivationOp::create(builder, loc, gate.getType(), layer.activation,
                              gate);
  Value vector = buildLayerInput(loc, layer, input->second);
  Value product = MultiplyOp::create(builder, loc, gate, vector);
  x.rows =
      buildProjection(loc, layer.name + ".projection", product,
                      getColumns(x.rows), /*bias=*/false, layer.projection);
  return x;
}
