//===- BuilderExperts.cpp - Routers and experts ---------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace hexad;

/// Checks what hexad.route needs, in the words of a description.
static LogicalResult checkRouter(Location loc, int64_t experts,
                                 const RouterDescription &router) {
  if (router.topK > experts)
    return emitError(loc, "expected at most ")
           << experts << " experts for each row, as there are no more, found "
           << router.topK;
  bool isSoftmax = router.score == RouterScore::Softmax;
  if (isSoftmax && (router.selectionBias || router.groups))
    return emitError(loc, "expected the score sigmoid beside a bias of the "
                          "selection or groups of experts");
  if (!router.groups != !router.topGroups)
    return emitError(loc, "expected groups of experts and the number of open "
                          "ones together");
  if (!router.groups)
    return success();
  int64_t groups = *router.groups, open = *router.topGroups;
  if (experts % groups != 0 || experts / groups < 2)
    return emitError(loc, "expected ")
           << experts << " experts in groups of two or more, found " << groups
           << " groups";
  if (open > groups || open * (experts / groups) < router.topK)
    return emitError(loc, "expected enough open groups of ")
           << experts / groups << " experts to choose " << router.topK
           << " from, and at most " << groups << ", found " << open;
  return success();
}

/// The routes of the rows `x`.
FailureOr<Value> ModuleBuilder::buildRoutes(Location loc, const MoeLayer &layer,
                                            Activations x) {
  const RouterDescription &router = layer.router;
  if (failed(checkRouter(loc, layer.experts, router)))
    return failure();
  FailureOr<Activations> input = buildLayers(router.input, x);
  if (failed(input))
    return failure();
  if (input->pooled != x.pooled)
    return emitError(loc, "'pool' cannot stand in front of a router");
  std::string name = layer.name + ".router";
  Value logits = buildProjection(loc, name, input->rows, layer.experts,
                                 router.bias, router.linear);
  if (failed(keepLogits(loc, router, {logits, x.pooled})))
    return failure();
  Value selectionBias, scales;
  if (router.selectionBias)
    selectionBias = load(loc, name + ".selection_bias", {layer.experts},
                         router.selection.weight);
  if (router.expertScale)
    scales =
        load(loc, name + ".expert_scale", {layer.experts}, router.scale.weight);
  auto getAttr = [&](std::optional<int64_t> number) {
    return number ? builder.getI64IntegerAttr(*number) : IntegerAttr();
  };
  return RouteOp::create(builder, loc, getRowsType(2 * router.topK),
                         router.score, logits, selectionBias, scales,
                         router.topK, router.renormalize,
                         llvm::APFloat(router.scaling), getAttr(router.groups),
                         getAttr(router.topGroups))
      .getResult();
}

/// activation(gate) · up, bounded as the layer says.
Value ModuleBuilder::buildGate(Location loc, const MoeLayer &layer, Value gate,
                               Value up) {
  if (layer.limit) {
    FloatAttr limit = builder.getF64FloatAttr(*layer.limit);
    gate = ClampOp::create(builder, loc, gate.getType(), gate,
                           /*lower=*/FloatAttr(), limit);
    up = ClampOp::create(builder, loc, up.getType(), up,
                         builder.getF64FloatAttr(-*layer.limit), limit);
  }
  gate = ActivationOp::create(builder, loc, gate.getType(), layer.activation,
                              gate);
  Value product = MultiplyOp::create(builder, loc, gate, up);
  return layer.unitOffset ? AddOp::create(builder, loc, product, gate)
                          : product;
}

/// What one expert makes of its rows.
Value ModuleBuilder::buildExpert(Location loc, const MoeLayer &layer, Value x,
                                 int64_t out) {
  int64_t hidden = layer.hidden;
  auto project = [&](llvm::StringRef part, const TensorNames &names,
                     RowPick inBlocks, RowPick inTurn) {
    std::string name = layer.name + "." + part.str();
    if (layer.layout == GateLayout::AsStored ||
        layer.layout == GateLayout::Separate)
      return buildProjection(loc, name, x, hidden, layer.bias, names,
                             layer.transposed);
    return buildProjection(
        loc, name, x, hidden, layer.bias, layer.gateUp, layer.transposed,
        layer.layout == GateLayout::Blocks ? inBlocks : inTurn);
  };
  Value gate =
      project("gate", layer.gate, {0, hidden, hidden, 1}, {0, 1, 2, hidden});
  Value up =
      project("up", layer.up, {hidden, hidden, hidden, 1}, {1, 1, 2, hidden});
  return buildProjection(loc, layer.name + ".down",
                         buildGate(loc, layer, gate, up), out, layer.bias,
                         layer.down, layer.transposed);
}

/// An op whose region `body` fills: it gets the number of an expert and rows.
Value ModuleBuilder::buildExpertsOp(
    Location loc, Value x, Value routes, int64_t count, int64_t out,
    llvm::function_ref<Value(Value, Value)> body) {
  auto op = ExpertsOp::create(builder, loc, getRowsType(out), x, routes,
                              builder.getI64IntegerAttr(count));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(
      &op.getBody(), {}, {builder.getIndexType(), x.getType()}, {loc, loc});
  YieldOp::create(builder, loc,
                  body(block->getArgument(0), block->getArgument(1)));
  return op.getResult();
}

Value ModuleBuilder::buildSharedExpert(Location loc, const MoeLayer &layer,
                                       Value x, int64_t out) {
  const SharedExpert &shared = *layer.shared;
  std::string name = layer.name + ".shared";
  auto apply = [&](Value rows) {
    Value gate = buildProjection(loc, name + ".gate", rows, shared.hidden,
                                 /*bias=*/false, shared.gate);
    Value up = buildProjection(loc, name + ".up", rows, shared.hidden,
                               /*bias=*/false, shared.up);
    return buildProjection(loc, name + ".down", buildGate(loc, layer, gate, up),
                           out,
                           /*bias=*/false, shared.down);
  };
  if (!shared.gated)
    return apply(x);
  // The only one of its kind: its weight is σ(logit).
  Value logit = buildProjection(loc, name + ".router", x, /*out=*/1,
                                /*bias=*/false, shared.router);
  Value routes =
      RouteOp::create(builder, loc, getRowsType(2), RouterScore::Sigmoid, logit,
                      /*selection_bias=*/Value(), /*scales=*/Value(),
                      /*top_k=*/1, /*renormalize=*/false,
                      llvm::APFloat(/*scaling=*/1.0), /*groups=*/IntegerAttr(),
                      /*top_groups=*/IntegerAttr());
  return buildExpertsOp(loc, x, routes, /*count=*/1, out,
                        [&](Value, Value rows) { return apply(rows); });
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const MoeLayer &layer, Activations x) {
  int64_t out = getColumns(x.rows);
  int64_t stacked = repeat ? repeat->count : 1;
  if (layer.experts > maxExperts / stacked)
    return emitError(loc, "expected at most ")
           << maxExperts << " experts in all layers of a kind, found "
           << layer.experts << " in each of " << stacked;
  FailureOr<Value> routes = buildRoutes(loc, layer, x);
  if (failed(routes))
    return failure();
  FailureOr<Activations> input = buildLayers(layer.input, x);
  if (failed(input))
    return failure();
  if (input->pooled != x.pooled)
    return emitError(loc, "'pool' cannot stand in front of experts");
  auto body = [&](Value number, Value rows) {
    Value member = number;
    if (repeat && repeat->index) {
      Value count = arith::ConstantIndexOp::create(builder, loc, layer.experts);
      Value before = arith::MulIOp::create(builder, loc, repeat->index, count);
      member = arith::AddIOp::create(builder, loc, before, number);
    }
    expert = Expert{member, layer.experts};
    Value result = buildExpert(loc, layer, rows, out);
    expert.reset();
    return result;
  };
  Value sum =
      buildExpertsOp(loc, input->rows, *routes, layer.experts, out, body);
  if (layer.shared)
    sum = AddOp::create(builder, loc, sum,
                        buildSharedExpert(loc, layer, input->rows, out));
  x.rows = sum;
  return x;
}
