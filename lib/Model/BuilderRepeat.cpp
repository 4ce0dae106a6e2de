//===- BuilderRepeat.cpp - Loops over layers, hidden states -----------------===
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace hexad;

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

Value ModuleBuilder::unpackStack(Location loc, Value stack) {
  auto type = cast<RankedTensorType>(stack.getType());
  return UnpackRowsOp::create(
      builder, loc,
      RankedTensorType::get({type.getDimSize(0), ShapedType::kDynamic,
                             ShapedType::kDynamic, type.getDimSize(2)},
                            f32),
      stack, segments);
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
  if (layer.first != 0 && layer.first != stackLayers)
    return emitError(loc, "expected the first layer of a repeat to be 0 or the "
                          "number of layers in the repeats right in front, ")
           << stackLayers << ", found " << layer.first;
  if (layer.first == 0)
    stackInput = x.rows;
  stackLayers = layer.first + layer.count;
  int64_t period = layer.period.size(), iterations = layer.count / period;
  Value states = openStates;
  if (hiddenCount && !states)
    states = startStates(loc, *hiddenCount, x.rows);
  if (countMembers(layer.period, routers.isMember) != 0)
    startRouters(loc, x.rows);
  if (iterations > 0) {
    ImplicitLocOpBuilder b(loc, builder);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value count = arith::ConstantIndexOp::create(b, iterations);
    SmallVector<Value> initial = {x.rows};
    if (states)
      initial.push_back(states);
    SmallVector<LayerStack *> stacks = getStacks(layer.period);
    for (LayerStack *stack : stacks)
      initial.push_back(stack->members);
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
    unsigned firstStack = initial.size() - stacks.size();
    SmallVector<int64_t> addedBefore;
    for (auto [i, stack] : llvm::enumerate(stacks)) {
      addedBefore.push_back(stack->next);
      enterLoop(loc, *stack, loop.getRegionIterArg(firstStack + i), index,
                countMembers(layer.period, stack->isMember));
    }
    for (auto [j, body] : llvm::enumerate(layer.period)) {
      OpFoldResult member;
      if (states) {
        int64_t number = layer.first + j + 1;
        Value next = number == 1
                         ? one
                         : arith::ConstantIndexOp::create(builder, loc, number)
                               .getResult();
        member = arith::AddIOp::create(builder, loc, before, next).getResult();
      }
      FailureOr<Activations> result = buildBody(
          loc, body, {index, iterations, layer.first + int64_t(j), period}, y,
          kept, member);
      if (failed(result))
        return failure();
      y = *result;
    }
    SmallVector<Value> yielded = {y.rows};
    if (states)
      yielded.push_back(kept);
    for (LayerStack *stack : stacks)
      yielded.push_back(stack->members);
    scf::YieldOp::create(builder, loc, yielded);
    x.rows = loop.getResult(0);
    if (states)
      states = loop.getResult(1);
    for (auto [i, stack] : llvm::enumerate(stacks)) {
      stack->members = loop.getResult(firstStack + i);
      stack->first = {};
      stack->next =
          addedBefore[i] + (stack->next - addedBefore[i]) * iterations;
    }
  }
  for (int64_t number = iterations * period; number < layer.count; ++number) {
    FailureOr<Activations> result =
        buildBody(loc, layer.period[number % period],
                  {Value(), 1, layer.first + number, period}, x, states,
                  builder.getIndexAttr(layer.first + number + 1));
    if (failed(result))
      return failure();
    x = *result;
  }
  openStates = states;
  return x;
}
