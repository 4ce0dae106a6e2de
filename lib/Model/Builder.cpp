//===- Builder.cpp - From a description to hexad IR -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "TensorNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace hexad;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value ModuleBuilder::load(Location loc, const llvm::Twine &name,
                          llvm::ArrayRef<int64_t> shape, llvm::StringRef stored,
                          bool transposed, const Selection &selection) {
  std::string symbol = name.str();
  auto type = RankedTensorType::get(shape, f32);
  RankedTensorType stackedType = type;
  IntegerAttr layers;
  Repeat layer = repeat.value_or(Repeat{{}, 1, 0, 1});
  int64_t experts = expert ? expert->count : 1;
  if (layer.index || expert) {
    int64_t count = layer.count * experts;
    SmallVector<int64_t> stackedShape = {count};
    llvm::append_range(stackedShape, shape);
    stackedType = RankedTensorType::get(stackedShape, f32);
    layers = builder.getI64IntegerAttr(count);
  }
  symbol += layer.getSuffix();
  // A tensor of each expert, or one of all.
  bool isOfOne = stored.contains("{e}");
  IntegerAttr members;
  if (expert && !isOfOne)
    members = builder.getI64IntegerAttr(experts);
  SmallVector<Attribute> tensors;
  for (int64_t i = 0; i < layer.count; ++i)
    for (int64_t e = 0; e < (isOfOne ? experts : 1); ++e)
      tensors.push_back(builder.getStringAttr(
          expandTensorName(stored, layer.first + i * layer.stride, e)));
  ArrayAttr picks;
  if (const std::optional<RowPick> &pick = selection.rows) {
    SmallVector<int64_t> numbers = {pick->first, pick->size, pick->stride,
                                    pick->count};
    if (pick->step)
      numbers.push_back(pick->step);
    picks = builder.getArrayAttr({builder.getDenseI64ArrayAttr(numbers)});
  }
  DenseI64ArrayAttr columns;
  if (selection.columns)
    columns = builder.getDenseI64ArrayAttr({selection.columns->first,
                                            selection.columns->size,
                                            selection.columns->step});
  ParameterOp &known = parameters[symbol];
  if (!known || known.getType() != stackedType ||
      known.getTensors().getValue() != ArrayRef(tensors)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    known = ParameterOp::create(
        builder, loc, builder.getStringAttr(symbol), TypeAttr::get(stackedType),
        builder.getStringAttr(description.weightsFile),
        builder.getArrayAttr(tensors), layers,
        transposed ? builder.getUnitAttr() : UnitAttr(), IntegerAttr(), picks,
        columns, members, DenseI64ArrayAttr(), UnitAttr(), TypeAttr());
  }
  return LoadOp::create(builder, loc, type, symbol,
                        expert ? expert->member : layer.index);
}

Value ModuleBuilder::buildProjection(Location loc, const llvm::Twine &name,
                                     Value x, int64_t out, bool bias,
                                     const TensorNames &names, bool transposed,
                                     std::optional<RowPick> pick) {
  std::string prefix = name.str();
  Value weight = load(loc, prefix + ".weight", {out, getColumns(x)},
                      names.weight, transposed, {pick});
  Value biasValue = bias ? load(loc, prefix + ".bias", {out}, names.bias,
                                /*transposed=*/false, {pick})
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
  Value table;
  if (image) {
    FailureOr<Value> resized = loadImagePositions(loc, layer);
    if (failed(resized))
      return failure();
    table = *resized;
  } else if (layer.grid) {
    return emitError(loc, "a grid of positions needs an input of images");
  } else {
    table = load(loc, layer.name + ".weight", {layer.entries, layer.dim},
                 layer.tensors.weight);
    positionLimit =
        std::min(positionLimit.value_or(layer.entries), layer.entries);
  }
  return Activations{
      EmbeddingOp::create(builder, loc, getPositions(loc), table).getResult()};
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
  Value weight = layer.weight ? load(loc, layer.name + ".weight",
                                     {getColumns(x.rows)}, layer.tensors.weight)
                              : Value();
  x.rows = RmsNormOp::create(builder, loc, x.rows.getType(), x.rows, weight,
                             llvm::APFloat(layer.eps), /*offset=*/0,
                             /*groups=*/1, /*group_size=*/IntegerAttr(),
                             layer.unitOffset);
  return x;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const GatedLayer &layer, Activations x) {
  int64_t columns = getColumns(x.rows);
  auto project = [&](llvm::StringRef part, const TensorNames &names,
                     int64_t first) {
    std::string name = layer.name + part.str();
    if (!layer.fused)
      return buildProjection(loc, name, x.rows, layer.hidden, layer.bias,
                             names);
    return buildProjection(loc, name, x.rows, layer.hidden, layer.bias,
                           layer.gateUp, /*transposed=*/false,
                           RowPick{first, layer.hidden, layer.hidden, 1});
  };
  Value gate = project(".gate", layer.gate, 0);
  gate = ActivationOp::create(builder, loc, gate.getType(), layer.activation,
                              gate);
  Value up = project(".up", layer.up, layer.hidden);
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
ModuleBuilder::build(Location loc, const ScaleColumnsLayer &layer,
                     Activations x) {
  int64_t columns = getColumns(x.rows);
  Selection selection;
  if (layer.isScalar) // The one element again and again.
    selection.rows = RowPick{/*first=*/0, /*size=*/1, /*stride=*/0, columns};
  Value weight = load(loc, layer.name + ".weight", {columns},
                      layer.tensors.weight, /*transposed=*/false, selection);
  x.rows = ScaleColumnsOp::create(builder, loc, x.rows, weight);
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
  bool selects = &layer == head || (loss && &layer == loss->head);
  if (selects && !(loss && loss->isOpen)) {
    if (loss)
      loss->input = x.rows;
    x.rows =
        SelectRowsOp::create(builder, loc, x.rows.getType(), x.rows, segments);
  }
  if (layer.tied.empty() && !layer.firstColumn) {
    x.rows = buildProjection(loc, layer.name, x.rows, layer.out, layer.bias,
                             layer.tensors, layer.transposed);
    return x;
  }
  // The embedding's own parameter, so that it is stored once.
  Selection selection;
  if (layer.firstColumn)
    selection.columns =
        ColumnPick{*layer.firstColumn, getColumns(x.rows), /*step=*/0};
  const std::string &owner = layer.tied.empty() ? layer.name : layer.tied;
  Value weight = load(loc, owner + ".weight", {layer.out, getColumns(x.rows)},
                      layer.tensors.weight, /*transposed=*/false, selection);
  Value bias = layer.bias ? load(loc, layer.name + ".bias", {layer.out},
                                 layer.tensors.bias)
                          : Value();
  x.rows = LinearOp::create(builder, loc, x.rows, weight, bias);
  return x;
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
                          segments, layer.skip);
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
  if (loss && !loss->mean && layer.name == "logits" &&
      failed(buildLoss(loc, x)))
    return failure();
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

/// The sum of what branches give, which may differ from what they get.
FailureOr<ModuleBuilder::Activations>
ModuleBuilder::buildSum(const ParallelLayer &layer, Activations x) {
  Activations sum;
  for (const std::vector<Layer> &layers : layer.branches) {
    FailureOr<Activations> branch = buildLayers(layers, x);
    if (failed(branch))
      return failure();
    if (!sum.rows) {
      sum = *branch;
      continue;
    }
    if (branch->pooled != sum.pooled ||
        branch->rows.getType() != sum.rows.getType())
      return emitError(layers.back().loc, "expected a branch to give rows like "
                                          "those of the one before: ")
             << getColumns(sum.rows) << " columns of each "
             << (sum.pooled ? "sequence" : "token") << ", found "
             << getColumns(branch->rows) << " of each "
             << (branch->pooled ? "sequence" : "token");
    sum.rows =
        AddOp::create(builder, layers.back().loc, branch->rows, sum.rows);
  }
  return sum;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const ParallelLayer &layer, Activations x) {
  if (!layer.isResidual)
    return buildSum(layer, x);
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

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::buildLayer(const Layer &layer, Activations x) {
  bool isSource = std::holds_alternative<EmbeddingLayer>(layer.kind) ||
                  std::holds_alternative<PositionsLayer>(layer.kind) ||
                  std::holds_alternative<PatchifyLayer>(layer.kind) ||
                  std::holds_alternative<SumLayer>(layer.kind);
  if (isSource && x.rows)
    return emitError(layer.loc, "this layer makes rows of an input and cannot "
                                "stand behind another layer");
  if (!isSource && !x.rows)
    return emitError(layer.loc, "expected 'embedding', 'patchify' or 'sum' in "
                                "front of this layer");
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
    bool endsStack =
        nesting == 1 && !std::holds_alternative<RepeatLayer>(layer.kind);
    if (endsStack) {
      stackInput = {};
      stackLayers = 0;
    }
    if (endsStack && openStates && !description.hiddenAfterNorm) {
      hiddenStates = unpackStack(openStates.getLoc(), openStates);
      openStates = {};
    }
    FailureOr<Activations> y = buildLayer(layer, x);
    if (failed(y))
      return failure();
    x = *y;
    if (endsStack && openStates) {
      // What the final norm gives takes the place of what it got.
      int64_t last =
          cast<RankedTensorType>(openStates.getType()).getDimSize(0) - 1;
      if (getColumns(x.rows) !=
          cast<RankedTensorType>(openStates.getType()).getDimSize(2))
        return emitError(layer.loc, "expected a norm behind the repeat, whose "
                                    "result is the last of 'hidden'");
      hiddenStates =
          unpackStack(layer.loc, insertState(layer.loc, x.rows, openStates,
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

bool ModuleBuilder::isCausal(llvm::ArrayRef<Layer> layers, bool &pools,
                             bool &attends) {
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
  // Runs of repeats; those of a run number their layers as one.
  int64_t runs = 0, layers = 0;
  for (const Layer &layer : description.layers) {
    auto *repeat = std::get_if<RepeatLayer>(&layer.kind);
    bool follows = last && std::holds_alternative<RepeatLayer>(last->kind);
    last = &layer;
    if (auto *output = std::get_if<OutputLayer>(&layer.kind))
      own.push_back(output->name);
    if (repeat) {
      runs += !follows || repeat->first == 0;
      layers += repeat->count;
    }
  }
  if (!last)
    return emitError(description.loc, "expected at least one layer");
  if (!std::holds_alternative<OutputLayer>(last->kind))
    return emitError(last->loc, "expected 'output' as the last layer: no "
                                "output depends on this one");
  for (llvm::StringRef name : requested) {
    if (llvm::is_contained(own, name))
      continue;
    if (name == "loss") {
      wantsLoss = true;
      continue;
    }
    if (name == "attention") {
      maps.isAskedFor = true;
      continue;
    }
    if (name == "router_logits") {
      routers.isAskedFor = true;
      continue;
    }
    if (name != "hidden") {
      InFlightDiagnostic diagnostic =
          emitError(getOutputsLoc(), "there is no output '")
          << name
          << "'; expected 'hidden', 'attention', 'loss', "
             "'router_logits'";
      for (llvm::StringRef known : own)
        diagnostic << ", '" << known << "'";
      return diagnostic;
    }
    if (runs != 1)
      return emitError(getOutputsLoc(),
                       "output 'hidden' needs one 'repeat' of layers, found ")
             << runs;
    hiddenCount = layers + 1;
  }
  return maps.isAskedFor ? checkMaps() : success();
}

/// Creates the function with its arguments, and the rows of each input.
LogicalResult ModuleBuilder::buildInputs() {
  for (const InputDescription &input : description.inputs)
    if (input.image)
      return buildImage(input);
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
  if (loss)
    buildLabels();
  return success();
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  if (failed(checkOutputs()))
    return nullptr;
  findHead();
  if (wantsLoss && failed(findLoss()))
    return nullptr;
  if (routers.isAskedFor && failed(checkRouters()))
    return nullptr;
  OwningOpRef<ModuleOp> owned =
      ModuleOp::create(description.loc, description.name);
  builder.setInsertionPointToStart(owned->getBody());
  if (failed(buildInputs()))
    return nullptr;
  if (maps.isAskedFor)
    startMaps();
  if (failed(buildLayers(description.layers, {})))
    return nullptr;
  if (hiddenStates)
    results.push_back({"hidden", hiddenStates, /*stacked=*/true});
  if (loss)
    results.push_back({"loss", loss->mean});
  if (maps.members)
    results.push_back({"attention", maps.members, /*stacked=*/true});
  finishRouters();

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
    if (input.isMask || input.image)
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
        forEachLayer(body, repeat->first + i, visit);
    } else {
      if (auto *experts = std::get_if<MoeLayer>(&layer.kind)) {
        forEachLayer(experts->router.input, number, visit);
        forEachLayer(experts->input, number, visit);
      }
      visit(layer, number);
    }
  }
}

void hexad::forEachLayer(llvm::MutableArrayRef<Layer> layers,
                         llvm::function_ref<void(Layer &, int64_t)> visit) {
  ::forEachLayer(layers, /*number=*/0, visit);
}
