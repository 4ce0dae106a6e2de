//===- Builder.cpp - From a description to hexad IR -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorNames.h"
#include "hexad/Model/Description.h"
#include "hexad/Model/RotaryTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

namespace {

class ModuleBuilder {
public:
  ModuleBuilder(const Description &description,
                llvm::ArrayRef<std::string> outputs, MLIRContext *context)
      : description(description), requested(outputs), builder(context),
        f32(builder.getF32Type()) {}

  OwningOpRef<ModuleOp> build();

private:
  /// What the layers so far give.
  struct Activations {
    Value rows;
    /// A row for each segment, no longer one for each token.
    bool pooled = false;
  };
  struct Result {
    std::string name;
    Value value;
    bool stacked = false;
  };
  /// The body of a repeat that is being built. In the loop it stands for the
  /// layers `first`, `first + stride`, …, one for each iteration; behind it
  /// (`index` is null) for one layer.
  struct Repeat {
    Value index;
    int64_t count, first, stride;

    /// What names of the body need behind them to be the only ones.
    std::string getSuffix() const {
      return stride == 1 ? "" : "." + std::to_string(first);
    }
  };
  /// Rows of a stored tensor: `count` blocks of `size`, `stride` apart.
  struct Pick {
    int64_t first, size, stride, count;
  };

  LogicalResult checkOutputs();
  LogicalResult buildInputs();
  FailureOr<Activations> buildLayers(llvm::ArrayRef<Layer> layers,
                                     Activations x);
  FailureOr<Activations> buildLayer(const Layer &layer, Activations x);

  FailureOr<Activations> build(Location loc, const EmbeddingLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const PositionsLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const SumLayer &, Activations);
  FailureOr<Activations> build(Location loc, const LayerNormLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const RmsNormLayer &, Activations);
  FailureOr<Activations> build(Location loc, const GatedLayer &, Activations);
  FailureOr<Activations> build(Location loc, const ScaleLayer &, Activations);
  FailureOr<Activations> build(Location loc, const SoftcapLayer &, Activations);
  FailureOr<Activations> build(Location loc, const ParallelLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const LinearLayer &, Activations);
  FailureOr<Activations> build(Location loc, const AttentionLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const ActivationLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const PoolLayer &, Activations);
  FailureOr<Activations> build(Location loc, const L2NormalizeLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const SoftmaxLayer &, Activations);
  FailureOr<Activations> build(Location loc, const OutputLayer &, Activations);
  FailureOr<Activations> build(Location loc, const ResidualLayer &,
                               Activations);
  FailureOr<Activations> build(Location loc, const RepeatLayer &, Activations);
  FailureOr<Activations> buildBody(Location loc, llvm::ArrayRef<Layer> layers,
                                   const Repeat &body, Activations x,
                                   Value &states, OpFoldResult member);

  /// The rows that the layers of a branch give, like its input's.
  FailureOr<Value> buildBranch(Location loc, llvm::StringRef what,
                               llvm::ArrayRef<Layer> layers, Activations x);
  /// Declares a parameter that is stored as `names` says and loads it: the
  /// current layer of it inside a repeat.
  Value load(Location loc, const llvm::Twine &name,
             llvm::ArrayRef<int64_t> shape, llvm::StringRef stored,
             bool transposed = false, std::optional<Pick> pick = {});
  /// A linear op with weight and bias of `names`.
  Value buildProjection(Location loc, const llvm::Twine &name, Value x,
                        int64_t out, bool bias, const TensorNames &names,
                        bool transposed = false, std::optional<Pick> pick = {});

  /// Query, key and value of an attention, in this order.
  struct Heads {
    Value query, key, value;
  };
  /// Sizes of an attention, given or not.
  struct HeadShape {
    int64_t heads, kvHeads, headDim;
  };
  Heads buildHeads(Location loc, const AttentionLayer &layer, HeadShape shape,
                   Value x);
  Value buildHeadNorm(Location loc, const AttentionLayer &layer,
                      const llvm::Twine &name, const TensorNames &names,
                      int64_t heads, Value x);
  Value buildRotation(Location loc, const AttentionLayer &layer, int64_t heads,
                      int64_t headDim, Value x);
  /// The table of `rope`, made once in front of all layers.
  Value getRotary(Location loc, const RopeDescription &rope, int64_t columns);
  FlatSymbolRefAttr buildCache(Location loc, const AttentionLayer &layer,
                               HeadShape shape);

  void findHead();

  // Stacks of hidden states.
  Value startStates(Location loc, int64_t count, Value first);
  Value insertState(Location loc, Value state, Value states,
                    OpFoldResult index);
  void finishStates(Location loc, Value states);

  static int64_t getColumns(Value rows) {
    return cast<RankedTensorType>(rows.getType()).getDimSize(1);
  }
  RankedTensorType getRowsType(int64_t columns) {
    return RankedTensorType::get({ShapedType::kDynamic, columns}, f32);
  }

  const Description &description;
  llvm::ArrayRef<std::string> requested;
  OpBuilder builder;
  Type f32;

  ModuleOp module;
  func::FuncOp function;
  Value segments, positions;
  llvm::StringMap<Value> ids;      ///< rows of each input that is not a mask
  llvm::StringMap<int64_t> limits; ///< smallest table that an input indexes
  std::optional<int64_t> positionLimit;
  std::optional<Repeat> repeat;
  int nesting = 0; ///< of layers inside layers; 1 is outermost
  const RepeatLayer *hiddenRepeat = nullptr; ///< whose states are asked for
  Value openStates; ///< the stack that waits for the layer behind the repeat
  Value hiddenStates;
  /// The linear layer that works on selected rows; null if the model has no
  /// sessions.
  const LinearLayer *head = nullptr;
  Operation *lastInput = nullptr; ///< behind which tables of positions stand
  std::vector<std::pair<RopeDescription, Value>> rotaries;
  llvm::StringMap<ParameterOp> parameters; ///< by their symbols
  std::vector<Result> results;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value ModuleBuilder::load(Location loc, const llvm::Twine &name,
                          llvm::ArrayRef<int64_t> shape, llvm::StringRef stored,
                          bool transposed, std::optional<Pick> pick) {
  std::string symbol = name.str();
  auto type = RankedTensorType::get(shape, f32);
  RankedTensorType stackedType = type;
  IntegerAttr layers;
  Repeat layer = repeat.value_or(Repeat{{}, 1, 0, 1});
  if (layer.index) {
    SmallVector<int64_t> stackedShape = {layer.count};
    llvm::append_range(stackedShape, shape);
    stackedType = RankedTensorType::get(stackedShape, f32);
    layers = builder.getI64IntegerAttr(layer.count);
  }
  symbol += layer.getSuffix();
  SmallVector<Attribute> tensors;
  for (int64_t i = 0; i < layer.count; ++i)
    tensors.push_back(builder.getStringAttr(
        expandTensorName(stored, layer.first + i * layer.stride)));
  ArrayAttr picks;
  if (pick)
    picks = builder.getArrayAttr({builder.getDenseI64ArrayAttr(
        {pick->first, pick->size, pick->stride, pick->count})});
  ParameterOp &known = parameters[symbol];
  if (!known || known.getType() != stackedType ||
      known.getTensors().getValue() != ArrayRef(tensors)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    known = ParameterOp::create(
        builder, loc, builder.getStringAttr(symbol), TypeAttr::get(stackedType),
        builder.getStringAttr(description.weightsFile),
        builder.getArrayAttr(tensors), layers,
        transposed ? builder.getUnitAttr() : UnitAttr(), IntegerAttr(), picks);
  }
  return LoadOp::create(builder, loc, type, symbol, layer.index);
}

Value ModuleBuilder::buildProjection(Location loc, const llvm::Twine &name,
                                     Value x, int64_t out, bool bias,
                                     const TensorNames &names, bool transposed,
                                     std::optional<Pick> pick) {
  std::string prefix = name.str();
  Value weight = load(loc, prefix + ".weight", {out, getColumns(x)},
                      names.weight, transposed, pick);
  Value biasValue = bias ? load(loc, prefix + ".bias", {out}, names.bias,
                                /*transposed=*/false, pick)
                         : Value();
  return LinearOp::create(builder, loc, x, weight, biasValue);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const EmbeddingLayer &layer, Activations) {
  auto input = ids.find(layer.input);
  if (input == ids.end())
    return emitError(loc, "expected the name of an input of ids, found '")
           << layer.input << "'";
  Value table = load(loc, layer.name + ".weight", {layer.entries, layer.dim},
                     layer.tensors.weight);
  auto [limit, isNew] = limits.try_emplace(layer.input, layer.entries);
  limit->second = std::min(limit->second, layer.entries);
  return Activations{
      EmbeddingOp::create(builder, loc, input->second, table).getResult()};
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const PositionsLayer &layer, Activations) {
  if (!positions)
    positions = PositionsOp::create(
        builder, loc,
        RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type()),
        segments);
  Value table = load(loc, layer.name + ".weight", {layer.entries, layer.dim},
                     layer.tensors.weight);
  positionLimit =
      std::min(positionLimit.value_or(layer.entries), layer.entries);
  return Activations{
      EmbeddingOp::create(builder, loc, positions, table).getResult()};
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const SumLayer &layer, Activations) {
  Activations sum;
  for (const Layer &term : layer.terms) {
    FailureOr<Activations> value = buildLayer(term, {});
    if (failed(value))
      return failure();
    if (!sum.rows) {
      sum = *value;
      continue;
    }
    if (sum.rows.getType() != value->rows.getType())
      return emitError(term.loc, "expected a term of ")
             << getColumns(sum.rows) << " columns like the one before, found "
             << getColumns(value->rows);
    sum.rows = AddOp::create(builder, loc, sum.rows, value->rows);
  }
  return sum;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const LayerNormLayer &layer, Activations x) {
  int64_t columns = getColumns(x.rows);
  Value weight =
      load(loc, layer.name + ".weight", {columns}, layer.tensors.weight);
  Value bias = layer.bias ? load(loc, layer.name + ".bias", {columns},
                                 layer.tensors.bias)
                          : Value();
  x.rows = LayerNormOp::create(builder, loc, x.rows.getType(), x.rows, weight,
                               bias, builder.getF64FloatAttr(layer.eps));
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const RmsNormLayer &layer, Activations x) {
  Value weight = load(loc, layer.name + ".weight", {getColumns(x.rows)},
                      layer.tensors.weight);
  x.rows = RmsNormOp::create(builder, loc, x.rows.getType(), x.rows, weight,
                             llvm::APFloat(layer.eps), /*offset=*/0,
                             /*groups=*/1, /*group_size=*/IntegerAttr(),
                             layer.unitOffset);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const GatedLayer &layer, Activations x) {
  int64_t columns = getColumns(x.rows);
  Value gate = buildProjection(loc, layer.name + ".gate", x.rows, layer.hidden,
                               layer.bias, layer.gate);
  gate = ActivationOp::create(builder, loc, gate.getType(), layer.activation,
                              gate);
  Value up = buildProjection(loc, layer.name + ".up", x.rows, layer.hidden,
                             layer.bias, layer.up);
  Value product = MultiplyOp::create(builder, loc, gate, up);
  x.rows = buildProjection(loc, layer.name + ".down", product, columns,
                           layer.bias, layer.down);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const ScaleLayer &layer, Activations x) {
  x.rows = ScaleOp::create(builder, loc, x.rows.getType(), x.rows,
                           builder.getF64FloatAttr(layer.factor));
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const SoftcapLayer &layer, Activations x) {
  x.rows = SoftcapOp::create(builder, loc, x.rows.getType(), x.rows,
                             builder.getF64FloatAttr(layer.cap));
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const LinearLayer &layer, Activations x) {
  if (&layer == head)
    x.rows =
        SelectRowsOp::create(builder, loc, x.rows.getType(), x.rows, segments);
  if (layer.tied.empty()) {
    x.rows = buildProjection(loc, layer.name, x.rows, layer.out, layer.bias,
                             layer.tensors, layer.transposed);
    return x;
  }
  // The embedding's own parameter, so that it is stored once.
  Value weight = load(loc, layer.tied + ".weight",
                      {layer.out, getColumns(x.rows)}, layer.tensors.weight);
  Value bias = layer.bias ? load(loc, layer.name + ".bias", {layer.out},
                                 layer.tensors.bias)
                          : Value();
  x.rows = LinearOp::create(builder, loc, x.rows, weight, bias);
  return x;
}

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
    if (rotary % 2 != 0 || rotary > headDim)
      return emitError(loc, "expected rope to turn an even number of at most ")
             << headDim << " columns of a head, found " << rotary;
  }
  if (layer.fused == FusedLayout::Heads && kvHeads != layer.heads)
    return emitError(loc, "expected as many kv_heads as heads where query, key "
                          "and value are stored head by head, found ")
           << kvHeads << " and " << layer.heads;
  HeadShape shape{layer.heads, kvHeads, headDim};
  Heads projected = buildHeads(loc, layer, shape, x.rows);
  double scale =
      layer.scale.value_or(1.0 / std::sqrt(static_cast<double>(headDim)));
  FlatSymbolRefAttr cache =
      head ? buildCache(loc, layer, shape) : FlatSymbolRefAttr();
  Value attended = AttentionOp::create(
      builder, loc, getRowsType(layer.heads * headDim), projected.query,
      projected.key, projected.value, segments,
      builder.getI64IntegerAttr(layer.heads),
      builder.getI64IntegerAttr(kvHeads), builder.getI64IntegerAttr(headDim),
      builder.getF64FloatAttr(scale), builder.getDenseI64ArrayAttr({0, 0, 0}),
      layer.causal ? builder.getUnitAttr() : UnitAttr(),
      layer.window ? builder.getI64IntegerAttr(*layer.window) : IntegerAttr(),
      layer.softcap ? builder.getF64FloatAttr(*layer.softcap) : FloatAttr(),
      cache, cache && repeat ? repeat->index : Value());
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
                     int64_t columns, Pick inBlocks, int64_t inHead) {
    std::string name = layer.name + "." + part.str();
    if (layer.fused == FusedLayout::None)
      return buildProjection(loc, name, x, columns, layer.bias, names,
                             layer.transposed);
    Pick inHeads{inHead * headDim, headDim, 3 * headDim, shape.heads};
    return buildProjection(
        loc, name, x, columns, layer.bias, layer.qkv, layer.transposed,
        layer.fused == FusedLayout::Blocks ? inBlocks : inHeads);
  };
  Heads result;
  result.query =
      project("query", layer.query, queries, {0, queries, queries, 1}, 0);
  result.key = project("key", layer.key, keys, {queries, keys, keys, 1}, 1);
  result.value =
      project("value", layer.value, keys, {queries + keys, keys, keys, 1}, 2);
  if (layer.qkNorm != QkNorm::None) {
    result.query = buildHeadNorm(loc, layer, ".query_norm", layer.queryNorm,
                                 shape.heads, result.query);
    result.key = buildHeadNorm(loc, layer, ".key_norm", layer.keyNorm,
                               shape.kvHeads, result.key);
  }
  if (layer.rope) {
    result.query =
        buildRotation(loc, layer, shape.heads, headDim, result.query);
    result.key = buildRotation(loc, layer, shape.kvHeads, headDim, result.key);
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

FlatSymbolRefAttr ModuleBuilder::buildCache(Location loc,
                                            const AttentionLayer &layer,
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
  CacheOp::create(builder, loc, builder.getStringAttr(name), layers,
                  builder.getI64IntegerAttr(shape.kvHeads),
                  builder.getI64IntegerAttr(shape.headDim), window);
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const ActivationLayer &layer,
                     Activations x) {
  x.rows =
      ActivationOp::create(builder, loc, x.rows.getType(), layer.kind, x.rows);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const PoolLayer &layer, Activations x) {
  if (x.pooled)
    return emitError(loc, "each segment is one row already");
  x.rows = PoolOp::create(builder, loc, x.rows.getType(), layer.kind, x.rows,
                          segments);
  x.pooled = true;
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const L2NormalizeLayer &layer,
                     Activations x) {
  x.rows = L2NormalizeOp::create(builder, loc, x.rows.getType(), x.rows,
                                 builder.getF64FloatAttr(layer.eps));
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const SoftmaxLayer &, Activations x) {
  x.rows = SoftmaxOp::create(builder, loc, x.rows.getType(), x.rows);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const OutputLayer &layer, Activations x) {
  for (const Result &result : results)
    if (result.name == layer.name)
      return emitError(loc, "there are two outputs of the name '")
             << layer.name << "'";
  Value value = x.rows;
  if (!x.pooled)
    value = UnpackRowsOp::create(
        builder, loc,
        RankedTensorType::get(
            {ShapedType::kDynamic, ShapedType::kDynamic, getColumns(x.rows)},
            f32),
        x.rows, segments);
  results.push_back({layer.name, value});
  return x;
}

FailureOr<Value> ModuleBuilder::buildBranch(Location loc, llvm::StringRef what,
                                            llvm::ArrayRef<Layer> layers,
                                            Activations x) {
  FailureOr<Activations> branch = buildLayers(layers, x);
  if (failed(branch))
    return failure();
  if (branch->pooled != x.pooled)
    return emitError(loc, "'pool' cannot stand inside a ") << what;
  if (branch->rows.getType() != x.rows.getType())
    return emitError(loc, "expected the layers of a ")
           << what << " to give " << getColumns(x.rows)
           << " columns like its input, found " << getColumns(branch->rows);
  return branch->rows;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const ResidualLayer &layer, Activations x) {
  FailureOr<Value> branch = buildBranch(loc, "residual", layer.layers, x);
  if (failed(branch))
    return failure();
  x.rows = AddOp::create(builder, loc, *branch, x.rows);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const ParallelLayer &layer, Activations x) {
  Value sum = x.rows;
  for (const std::vector<Layer> &layers : layer.branches) {
    FailureOr<Value> branch = buildBranch(loc, "parallel", layers, x);
    if (failed(branch))
      return failure();
    sum = AddOp::create(builder, loc, *branch, sum);
  }
  x.rows = sum;
  return x;
}

Value ModuleBuilder::startStates(Location loc, int64_t count, Value first) {
  int64_t columns = getColumns(first);
  Value rowCount = tensor::DimOp::create(builder, loc, first, int64_t(0));
  Value states = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{count, ShapedType::kDynamic, columns},
      f32, ValueRange{rowCount});
  return insertState(loc, first, states, builder.getIndexAttr(0));
}

Value ModuleBuilder::insertState(Location loc, Value state, Value states,
                                 OpFoldResult index) {
  Value rowCount = tensor::DimOp::create(builder, loc, state, int64_t(0));
  SmallVector<OpFoldResult> offsets = {index, builder.getIndexAttr(0),
                                       builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1), rowCount,
                                     builder.getIndexAttr(getColumns(state))};
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, loc, state, states, offsets,
                                       sizes, strides);
}

void ModuleBuilder::finishStates(Location loc, Value states) {
  auto type = cast<RankedTensorType>(states.getType());
  hiddenStates = UnpackRowsOp::create(
      builder, loc,
      RankedTensorType::get({type.getDimSize(0), ShapedType::kDynamic,
                             ShapedType::kDynamic, type.getDimSize(2)},
                            f32),
      states, segments);
}

/// One body of a repeat; `states` is null or the stack that gets what it gives
/// as member `member`.
FailureOr<ModuleBuilder::Activations>
ModuleBuilder::buildBody(Location loc, llvm::ArrayRef<Layer> layers,
                         const Repeat &body, Activations x, Value &states,
                         OpFoldResult member) {
  repeat = body;
  FailureOr<Activations> y = buildLayers(layers, x);
  repeat.reset();
  if (failed(y))
    return failure();
  if (y->pooled != x.pooled)
    return emitError(loc, "'pool' cannot stand inside a repeat");
  if (y->rows.getType() != x.rows.getType())
    return emitError(loc, "expected the layers of a repeat to give ")
           << getColumns(x.rows) << " columns like its input, found "
           << getColumns(y->rows);
  if (states)
    states = insertState(loc, y->rows, states, member);
  return y;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const RepeatLayer &layer, Activations x) {
  int64_t period = layer.period.size(), iterations = layer.count / period;
  Value states;
  if (hiddenRepeat == &layer)
    states = startStates(loc, layer.count + 1, x.rows);
  if (iterations > 0) {
    ImplicitLocOpBuilder b(loc, builder);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value count = arith::ConstantIndexOp::create(b, iterations);
    SmallVector<Value> initial = {x.rows};
    if (states)
      initial.push_back(states);
    auto loop = scf::ForOp::create(builder, loc, zero, count, one, initial);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value index = loop.getInductionVar();
    Activations y{loop.getRegionIterArg(0), x.pooled};
    Value kept = states ? loop.getRegionIterArg(1) : Value();
    // The number of layers in front of this iteration; sums are what
    // hexad-check-model can follow.
    Value before = index;
    for (int64_t i = 1; states && i < period; ++i)
      before = arith::AddIOp::create(builder, loc, before, index);
    for (auto [j, body] : llvm::enumerate(layer.period)) {
      OpFoldResult member;
      if (states) {
        Value next = j == 0
                         ? one
                         : arith::ConstantIndexOp::create(builder, loc, j + 1)
                               .getResult();
        member = arith::AddIOp::create(builder, loc, before, next).getResult();
      }
      FailureOr<Activations> result = buildBody(
          loc, body, {index, iterations, int64_t(j), period}, y, kept, member);
      if (failed(result))
        return failure();
      y = *result;
    }
    SmallVector<Value> yielded = {y.rows};
    if (states)
      yielded.push_back(kept);
    scf::YieldOp::create(builder, loc, yielded);
    x.rows = loop.getResult(0);
    if (states)
      states = loop.getResult(1);
  }
  for (int64_t number = iterations * period; number < layer.count; ++number) {
    FailureOr<Activations> result = buildBody(
        loc, layer.period[number % period], {Value(), 1, number, period}, x,
        states, builder.getIndexAttr(number + 1));
    if (failed(result))
      return failure();
    x = *result;
  }
  if (states && description.hiddenAfterNorm)
    openStates = states;
  else if (states)
    finishStates(loc, states);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::buildLayer(const Layer &layer, Activations x) {
  bool isSource = std::holds_alternative<EmbeddingLayer>(layer.kind) ||
                  std::holds_alternative<PositionsLayer>(layer.kind) ||
                  std::holds_alternative<SumLayer>(layer.kind);
  if (isSource && x.rows)
    return emitError(layer.loc, "this layer makes rows of an input and cannot "
                                "stand behind another layer");
  if (!isSource && !x.rows)
    return emitError(layer.loc, "expected 'embedding' or 'sum' in front of "
                                "this layer");
  return std::visit([&](const auto &kind) { return build(layer.loc, kind, x); },
                    layer.kind);
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::buildLayers(llvm::ArrayRef<Layer> layers, Activations x) {
  ++nesting;
  for (const Layer &layer : layers) {
    bool isOutermost = std::holds_alternative<RepeatLayer>(layer.kind) ||
                       std::holds_alternative<OutputLayer>(layer.kind);
    if (nesting > 1 && isOutermost)
      return emitError(layer.loc, "this layer cannot stand inside another");
    FailureOr<Activations> y = buildLayer(layer, x);
    if (failed(y))
      return failure();
    x = *y;
    if (openStates && nesting == 1 &&
        !std::holds_alternative<RepeatLayer>(layer.kind)) {
      // What the final norm gives takes the place of what it got.
      int64_t last =
          cast<RankedTensorType>(openStates.getType()).getDimSize(0) - 1;
      if (getColumns(x.rows) !=
          cast<RankedTensorType>(openStates.getType()).getDimSize(2))
        return emitError(layer.loc, "expected a norm behind the repeat, whose "
                                    "result is the last of 'hidden'");
      finishStates(layer.loc, insertState(layer.loc, x.rows, openStates,
                                          builder.getIndexAttr(last)));
      openStates = {};
    }
  }
  --nesting;
  return x;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// Whether there is attention among the layers, and all of it is causal;
/// `pools` is set if there is a pool.
static bool isCausal(llvm::ArrayRef<Layer> layers, bool &pools, bool &attends) {
  bool causal = true;
  // Only looks.
  auto *mutableLayers = const_cast<Layer *>(layers.data());
  forEachLayer({mutableLayers, layers.size()}, [&](Layer &layer, int64_t) {
    pools |= std::holds_alternative<PoolLayer>(layer.kind);
    if (auto *attention = std::get_if<AttentionLayer>(&layer.kind)) {
      attends = true;
      causal &= attention->causal;
    }
  });
  return causal;
}

/// A language model has causal attention only, one input of ids, no pooling and
/// one output; its head is the first linear layer behind all attention.
void ModuleBuilder::findHead() {
  unsigned inputs = 0, ownOutputs = 0;
  for (const InputDescription &input : description.inputs)
    inputs += !input.isMask;
  bool pools = false, attendsAtAll = false;
  const LinearLayer *candidate = nullptr;
  for (const Layer &layer : description.layers) {
    bool attends = false;
    if (!isCausal(layer, pools, attends))
      return;
    attendsAtAll |= attends;
    if (attends)
      candidate = nullptr;
    else if (auto *linear = std::get_if<LinearLayer>(&layer.kind);
             linear && !candidate)
      candidate = linear;
    if (std::holds_alternative<OutputLayer>(layer.kind))
      ++ownOutputs;
    // An output in front of the head would be of all rows.
    if (std::holds_alternative<OutputLayer>(layer.kind) && !candidate)
      return;
  }
  if (inputs == 1 && ownOutputs == 1 && !pools && attendsAtAll)
    head = candidate;
}

LogicalResult ModuleBuilder::checkOutputs() {
  std::vector<llvm::StringRef> own;
  const Layer *last = nullptr;
  SmallVector<const Layer *> repeats;
  for (const Layer &layer : description.layers) {
    last = &layer;
    if (auto *output = std::get_if<OutputLayer>(&layer.kind))
      own.push_back(output->name);
    if (std::holds_alternative<RepeatLayer>(layer.kind))
      repeats.push_back(&layer);
  }
  if (!last)
    return emitError(description.loc, "expected at least one layer");
  if (!std::holds_alternative<OutputLayer>(last->kind))
    return emitError(last->loc, "expected 'output' as the last layer: no "
                                "output depends on this one");
  for (llvm::StringRef name : requested) {
    if (llvm::is_contained(own, name))
      continue;
    if (name != "hidden") {
      InFlightDiagnostic diagnostic =
          emitError(description.loc, "there is no output '")
          << name << "'; expected 'hidden'";
      for (llvm::StringRef known : own)
        diagnostic << ", '" << known << "'";
      return diagnostic;
    }
    if (repeats.size() != 1)
      return emitError(description.loc,
                       "output 'hidden' needs one 'repeat' of layers, found ")
             << repeats.size();
    hiddenRepeat = &std::get<RepeatLayer>(repeats.front()->kind);
  }
  return success();
}

/// Creates the function with its arguments, and the rows of each input.
LogicalResult ModuleBuilder::buildInputs() {
  auto rectangle = RankedTensorType::get(
      {ShapedType::kDynamic, ShapedType::kDynamic}, builder.getI32Type());
  std::vector<InputDescription> inputs = description.inputs;
  const InputDescription *mask = nullptr;
  for (const InputDescription &input : description.inputs) {
    if (!input.isMask)
      continue;
    if (mask)
      return emitError(input.loc, "there can be only one mask");
    mask = &input;
  }
  if (!mask)
    inputs.push_back({"attention_mask", description.loc, /*isMask=*/true,
                      /*optional=*/true});

  function = func::FuncOp::create(
      builder, description.loc, "forward",
      builder.getFunctionType(SmallVector<Type>(inputs.size(), rectangle), {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  for (auto [index, input] : llvm::enumerate(inputs)) {
    body->getArgument(index).setLoc(input.loc);
    function.setArgAttr(index, "hexad.name", builder.getStringAttr(input.name));
    if (input.optional)
      function.setArgAttr(index, "hexad.optional", builder.getUnitAttr());
    if (input.isMask)
      segments = SegmentsOp::create(builder, input.loc,
                                    SegmentsType::get(builder.getContext()),
                                    body->getArgument(index));
  }
  auto rows =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (input.isMask)
      continue;
    Value packed = PackRowsOp::create(builder, input.loc, rows,
                                      body->getArgument(index), segments);
    if (!ids.try_emplace(input.name, packed).second)
      return emitError(input.loc, "there are two inputs of the name '")
             << input.name << "'";
    lastInput = packed.getDefiningOp();
  }
  return success();
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  if (failed(checkOutputs()))
    return nullptr;
  findHead();
  OwningOpRef<ModuleOp> owned =
      ModuleOp::create(description.loc, description.name);
  builder.setInsertionPointToStart(owned->getBody());
  if (failed(buildInputs()) || failed(buildLayers(description.layers, {})))
    return nullptr;
  if (hiddenStates)
    results.push_back({"hidden", hiddenStates, /*stacked=*/true});

  SmallVector<Value> values;
  for (const Result &result : results)
    values.push_back(result.value);
  func::ReturnOp::create(builder, description.loc, values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(values).getTypes()));
  for (auto [index, result] : llvm::enumerate(results)) {
    function.setResultAttr(index, "hexad.name",
                           builder.getStringAttr(result.name));
    if (result.stacked)
      function.setResultAttr(index, "hexad.stacked", builder.getUnitAttr());
  }
  for (auto [index, input] : llvm::enumerate(description.inputs)) {
    if (input.isMask)
      continue;
    auto limit = limits.find(input.name);
    if (limit == limits.end()) {
      emitError(input.loc, "no embedding reads input '") << input.name << "'";
      return nullptr;
    }
    function.setArgAttr(index, "hexad.limit",
                        builder.getI64IntegerAttr(limit->second));
  }
  if (positionLimit)
    function->setAttr("hexad.position_limit",
                      builder.getI64IntegerAttr(*positionLimit));
  return owned;
}

OwningOpRef<ModuleOp> hexad::buildModule(const Description &description,
                                         llvm::ArrayRef<std::string> outputs,
                                         MLIRContext *context) {
  context->loadDialect<HexadDialect, arith::ArithDialect, func::FuncDialect,
                       scf::SCFDialect, tensor::TensorDialect>();
  return ModuleBuilder(description, outputs, context).build();
}

static void forEachLayer(llvm::MutableArrayRef<Layer> layers, int64_t number,
                         llvm::function_ref<void(Layer &, int64_t)> visit) {
  for (Layer &layer : layers) {
    if (auto *sum = std::get_if<SumLayer>(&layer.kind)) {
      forEachLayer(sum->terms, number, visit);
    } else if (auto *residual = std::get_if<ResidualLayer>(&layer.kind)) {
      forEachLayer(residual->layers, number, visit);
    } else if (auto *parallel = std::get_if<ParallelLayer>(&layer.kind)) {
      for (std::vector<Layer> &branch : parallel->branches)
        forEachLayer(branch, number, visit);
    } else if (auto *repeat = std::get_if<RepeatLayer>(&layer.kind)) {
      for (auto [i, body] : llvm::enumerate(repeat->period))
        forEachLayer(body, i, visit);
    } else {
      visit(layer, number);
    }
  }
}

void hexad::forEachLayer(llvm::MutableArrayRef<Layer> layers,
                         llvm::function_ref<void(Layer &, int64_t)> visit) {
  ::forEachLayer(layers, /*number=*/0, visit);
}
