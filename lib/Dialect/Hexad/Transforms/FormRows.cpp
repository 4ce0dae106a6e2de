//===- FormRows.cpp - Which row-local ops form a block --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_FORMROWSPASS
#include "hexad/Dialect/Hexad/Transforms/Passes.h.inc"
} // namespace hexad

/// Ops that may stand between the ops of a block without ending it.
static bool isTransparent(Operation *op) {
  return isa<LoadOp, PackRowsOp, PositionsOp, SegmentsOp, arith::ConstantOp,
             tensor::DimOp>(op);
}

/// Whether the rows are one for each segment rather than one for each token.
static bool areSegmentRows(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init && areSegmentRows(init->get());
  }
  Operation *op = value.getDefiningOp();
  if (isa<PoolOp>(op))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return areSegmentRows(
        loop.getInitArgs()[cast<OpResult>(value).getResultNumber()]);
  if (isa<RowsOp>(op))
    for (Value operand : op->getOperands())
      if (cast<RankedTensorType>(operand.getType()).isDynamicDim(0))
        return areSegmentRows(operand);
  auto rowLocal = dyn_cast<RowLocalOpInterface>(op);
  return rowLocal && areSegmentRows(rowLocal.getRowOperands().front());
}

namespace {
struct FormRowsPass : hexad::impl::FormRowsPassBase<FormRowsPass> {
  using FormRowsPassBase::FormRowsPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](Block *block) {
      if (!isa<RowsOp>(block->getParentOp()))
        formBlocks(*block);
    });
  }

private:
  void formBlocks(Block &block) {
    SmallVector<Operation *> group;
    bool hasLinear = false, ofSegments = false;
    auto close = [&] {
      if (!group.empty())
        makeRows(group);
      group.clear();
      hasLinear = false;
    };
    auto isOfGroup = [&](Value value) {
      return llvm::is_contained(group, value.getDefiningOp());
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<RowLocalOpInterface>(op)) {
        // What stands between must not need what will stand behind it.
        if (!isTransparent(&op) || llvm::any_of(op.getOperands(), isOfGroup))
          close();
        continue;
      }
      bool segments = areSegmentRows(op.getResult(0));
      if ((isa<LinearOp>(op) && hasLinear) ||
          (!group.empty() && segments != ofSegments))
        close();
      group.push_back(&op);
      hasLinear |= isa<LinearOp>(op);
      ofSegments = segments;
    }
    close();
  }

  /// Moves the ops of a group into a hexad.rows at the place of the last one.
  void makeRows(ArrayRef<Operation *> group) {
    llvm::SetVector<Value> inputs;
    SmallVector<Value> results;
    auto inGroup = [&](Operation *op) { return llvm::is_contained(group, op); };
    for (Operation *op : group) {
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() || !inGroup(operand.getDefiningOp()))
          inputs.insert(operand);
      if (llvm::any_of(op->getUsers(),
                       [&](Operation *user) { return !inGroup(user); }))
        results.push_back(op->getResult(0));
    }
    OpBuilder builder(group.back());
    SmallVector<Location> locations;
    for (Operation *op : group)
      locations.push_back(op->getLoc());
    auto rows = RowsOp::create(
        builder, builder.getFusedLoc(locations),
        TypeRange(ValueRange(results)), inputs.getArrayRef());
    Block *body = builder.createBlock(
        &rows.getBody(), {}, TypeRange(ValueRange(inputs.getArrayRef())),
        SmallVector<Location>(inputs.size(), rows.getLoc()));
    IRMapping mapping;
    mapping.map(inputs.getArrayRef(), body->getArguments());
    for (Operation *op : group)
      builder.clone(*op, mapping);
    SmallVector<Value> yields;
    for (Value result : results)
      yields.push_back(mapping.lookup(result));
    YieldOp::create(builder, rows.getLoc(), yields);
    for (auto [result, replacement] : llvm::zip(results, rows.getResults()))
      result.replaceAllUsesWith(replacement);
    for (Operation *op : llvm::reverse(group))
      op->erase();
  }
};
} // namespace
