//===- BuilderAttention.cpp - Projections, rotation, caches -----------------===
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "hexad/Model/RotaryTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

/// Most columns of a head that turn. Their frequencies are computed before
/// anything has been compared with the stored tensors.
static constexpr int64_t maxRotary = 1 << 16;

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const AttentionLayer &layer, Activations x) {
  if (x.pooled)
    return emitError(loc, "attention needs the tokens of a segment, which "
                          "'pool' has made one row of");
  int64_t columns = getColumns(x.rows);
  if (!layer.headDim && columns % layer.heads != 0)
    return emitError(loc, "expected ")
           << columns << " columns to be a multiple of " << layer.heads
           << " heads where head_dim is not given";
  int64_t headDim = layer.headDim.value_or(columns / layer.heads);
  int64_t kvHeads = layer.kvHeads.value_or(layer.heads);
  if (layer.heads % kvHeads != 0)
    return emitError(loc, "expected ")
           << layer.heads << " heads to be a multiple of kv_heads, found "
           << kvHeads;
  if (headDim > maxDimension / layer.heads)
    return emitError(loc, "expected heads and head_dim to give at most ")
           << maxDimension << " columns";
  if (layer.rope) {
    int64_t rotary = layer.rope->rotary.value_or(headDim);
    int64_t most = std::min(headDim, maxRotary);
    if (rotary % 2 != 0 || rotary > most)
      return emitError(loc, "expected rope to turn an even number of at most ")
             << most << " columns of a head, found " << rotary;
  }
  if (layer.fused == FusedLayout::Heads && kvHeads != layer.heads)
    return emitError(loc, "expected as many kv_heads as heads where query, key "
                          "and value are stored head by head, found ")
           << kvHeads << " and " << layer.heads;
  HeadShape shape{layer.heads, kvHeads, headDim};
  Heads projected = buildHeads(loc, layer, shape, x.rows);
  double scale =
      layer.scale.value_or(1.0 / std::sqrt(static_cast<double>(headDim)));
  FlatSymbolRefAttr cache;
  Value cacheLayer;
  if (layer.keysOf) {
    FailureOr<std::pair<CacheOp, Value>> found = findCache(loc, layer, shape);
    if (failed(found))
      return failure();
    cache = FlatSymbolRefAttr::get(found->first);
    cacheLayer = found->second;
  } else if (head) {
    cache = FlatSymbolRefAttr::get(buildCache(loc, layer, shape));
    cacheLayer = repeat ? repeat->index : Value();
  }
  auto attended = AttentionOp::create(
      builder, loc, getRowsType(layer.heads * headDim), projected.query,
      projected.key, projected.value, segments,
      builder.getI64IntegerAttr(layer.heads),
      builder.getI64IntegerAttr(kvHeads), builder.getI64IntegerAttr(headDim),
      builder.getF64FloatAttr(scale), builder.getDenseI64ArrayAttr({0, 0, 0}),
      layer.causal ? builder.getUnitAttr() : UnitAttr(),
      layer.window ? builder.getI64IntegerAttr(*layer.window) : IntegerAttr(),
      layer.softcap ? builder.getF64FloatAttr(*layer.softcap) : FloatAttr(),
      cache, cacheLayer);
  if (maps.members)
    buildMap(attended);
  x.rows = buildProjection(loc, layer.name + ".output", attended, columns,
                           layer.outputBias.value_or(layer.bias), layer.output,
                           layer.transposed);
  return x;
}

ModuleBuilder::Heads ModuleBuilder::buildHeads(Location loc,
                                               const AttentionLayer &layer,
                                               HeadShape shape, Value x) {
  int64_t headDim = shape.headDim;
  int64_t queries = shape.heads * headDim, keys = shape.kvHeads * headDim;
  auto project = [&](llvm::StringRef part, const TensorNames &names,
                     int64_t columns, RowPick inBlocks, int64_t inHead) {
    std::string name = layer.name + "." + part.str();
    if (layer.fused == FusedLayout::None)
      return buildProjection(loc, name, x, columns, layer.bias, names,
                             layer.transposed);
    RowPick inHeads{inHead * headDim, headDim, 3 * headDim, shape.heads};
    return buildProjection(
        loc, name, x, columns, layer.bias, layer.qkv, layer.transposed,
        layer.fused == FusedLayout::Blocks ? inBlocks : inHeads);
  };
  bool hasKeys = !layer.keysOf;
  Heads result;
  result.query =
      project("query", layer.query, queries, {0, queries, queries, 1}, 0);
  if (hasKeys) {
    result.key = project("key", layer.key, keys, {queries, keys, keys, 1}, 1);
    result.value =
        project("value", layer.valueFromKey ? layer.key : layer.value, keys,
                {queries + keys, keys, keys, 1}, 2);
  }
  if (layer.qkNorm != QkNorm::None) {
    result.query = buildHeadNorm(loc, layer, ".query_norm", layer.queryNorm,
                                 shape.heads, result.query);
    if (hasKeys)
      result.key = buildHeadNorm(loc, layer, ".key_norm", layer.keyNorm,
                                 shape.kvHeads, result.key);
  }
  if (layer.valueNormEps && hasKeys)
    result.value = RmsNormOp::create(
        builder, loc, result.value.getType(), result.value, /*weight=*/Value(),
        llvm::APFloat(*layer.valueNormEps), /*offset=*/0, shape.kvHeads,
        /*group_size=*/IntegerAttr());
  if (layer.rope) {
    result.query =
        buildRotation(loc, layer, shape.heads, headDim, result.query);
    if (hasKeys)
      result.key =
          buildRotation(loc, layer, shape.kvHeads, headDim, result.key);
  }
  return result;
}

Value ModuleBuilder::buildHeadNorm(Location loc, const AttentionLayer &layer,
                                   const llvm::Twine &name,
                                   const TensorNames &names, int64_t heads,
                                   Value x) {
  int64_t groups = layer.qkNorm == QkNorm::Heads ? heads : 1;
  Value weight = load(loc, layer.name + name + ".weight",
                      {getColumns(x) / groups}, names.weight);
  return RmsNormOp::create(
      builder, loc, x.getType(), x, weight,
      builder.getF64FloatAttr(layer.qkNormEps), builder.getI64IntegerAttr(0),
      builder.getI64IntegerAttr(groups), IntegerAttr(),
      layer.qkNormUnitOffset ? builder.getUnitAttr() : UnitAttr());
}

Value ModuleBuilder::buildRotation(Location loc, const AttentionLayer &layer,
                                   int64_t heads, int64_t headDim, Value x) {
  const RopeDescription &rope = *layer.rope;
  Value rotary = getRotary(loc, rope, rope.rotary.value_or(headDim));
  return RopeOp::create(builder, loc, x.getType(), rope.pairing, x, rotary,
                        heads, headDim, /*offset=*/0);
}

Value ModuleBuilder::getRotary(Location loc, const RopeDescription &rope,
                               int64_t columns) {
  for (auto &[known, table] : rotaries)
    if (known.theta == rope.theta && known.scaling == rope.scaling &&
        getColumns(table) == columns)
      return table;
  RotaryTable frequencies = makeRotaryTable(rope, columns);
  OpBuilder::InsertionGuard guard(builder);
  if (!positions) {
    builder.setInsertionPointAfter(lastInput);
    positions = PositionsOp::create(
        builder, loc,
        RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type()),
        segments);
  }
  builder.setInsertionPointAfter(positions.getDefiningOp());
  Value table =
      RotaryOp::create(builder, loc, getRowsType(columns), positions,
                       builder.getDenseF32ArrayAttr(frequencies.invFreq),
                       builder.getF64FloatAttr(frequencies.attentionFactor));
  rotaries.emplace_back(rope, table);
  return table;
}

CacheOp ModuleBuilder::buildCache(Location loc, const AttentionLayer &layer,
                                  HeadShape shape) {
  std::string name = layer.name + ".cache";
  IntegerAttr layers, window;
  if (repeat) {
    name += repeat->getSuffix();
    if (repeat->index)
      layers = builder.getI64IntegerAttr(repeat->count);
  }
  if (layer.window)
    window = builder.getI64IntegerAttr(*layer.window);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  auto cache =
      CacheOp::create(builder, loc, builder.getStringAttr(name), layers,
                      builder.getI64IntegerAttr(shape.kvHeads),
                      builder.getI64IntegerAttr(shape.headDim), window);
  if (repeat)
    cacheUsers.push_back(
        {layer.name, repeat->first, repeat->count, repeat->stride, cache});
  return cache;
}

FailureOr<std::pair<CacheOp, Value>>
ModuleBuilder::findCache(Location loc, const AttentionLayer &layer,
                         HeadShape shape) {
  if (!head)
    return emitError(loc, "keys of another layer need a language model: causal "
                          "attention, one input of ids, one output and a "
                          "linear layer in front of it");
  int64_t number = *layer.keysOf;
  for (CacheUser &user : cacheUsers) {
    int64_t distance = number - user.first;
    if (user.attention != layer.name || distance < 0 ||
        distance % user.stride != 0 || distance / user.stride >= user.count)
      continue;
    CacheOp cache = user.cache;
    bool sameWindow =
        layer.window ? cache.getWindow() == layer.window : !cache.getWindow();
    if (static_cast<int64_t>(cache.getKvHeads()) != shape.kvHeads ||
        static_cast<int64_t>(cache.getHeadDim()) != shape.headDim ||
        !sameWindow) {
      InFlightDiagnostic diagnostic = emitError(
          loc, "expected the kv_heads, head_dim and window of layer ");
      diagnostic << number << ", whose keys are attended to";
      diagnostic.attachNote(cache.getLoc()) << "that layer is here";
      return diagnostic;
    }
    Value index;
    if (cache.getLayers())
      index =
          arith::ConstantIndexOp::create(builder, loc, distance / user.stride);
    return std::make_pair(cache, index);
  }
  return emitError(loc, "expected '")
         << layer.name << "' of an earlier repeat to have keys in layer "
         << number << ", which is to be attended to";
}
