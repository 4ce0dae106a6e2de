//===- FormRows.cpp - Which row-local ops form a block --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/IR/RowDomain.h"
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
  return isa<ElementsOp, ImageSegmentsOp, LabelsOp, LoadOp, PackRowsOp,
             PositionsOp, SegmentsOp, arith::AddIOp, arith::ConstantOp,
             arith::MulIOp, tensor::DimOp>(op);
}

namespace {
struct FormRowsPass : hexad::impl::FormRowsPassBase<FormRowsPass> {
  using FormRowsPassBase::FormRowsPassBase;

  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      formBlocks(block);
  }

private:
  void formBlocks(Block &block) {
    llvm::SetVector<Operation *> group;
    bool hasLinear = false;
    RowDomain groupDomain = RowDomain::Tokens;
    auto close = [&] {
      if (!group.empty())
        makeRows(group);
      group.clear();
      hasLinear = false;
    };
    auto isOfGroup = [&](Value value) {
      return group.contains(value.getDefiningOp());
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<RowLocalOpInterface>(op)) {
        // What stands between must not need what will stand behind it.
        if (!isTransparent(&op) || llvm::any_of(op.getOperands(), isOfGroup))
          close();
        // An expert's rows are a block already.
        if (!isa<RowsOp, ExpertsOp>(op))
          for (Region &region : op.getRegions())
            for (Block &inner : region)
              formBlocks(inner);
        continue;
      }
      RowDomain domain = getRowDomain(op.getResult(0));
      if ((isa<LinearOp>(op) && hasLinear) ||
          (!group.empty() && domain != groupDomain))
        close();
      group.insert(&op);
      hasLinear |= isa<LinearOp>(op);
      groupDomain = domain;
    }
    close();
  }

  /// Moves the ops of a group into a hexad.rows at the place of the last one.
  void makeRows(const llvm::SetVector<Operation *> &group) {
    llvm::SetVector<Value> inputs;
    SmallVector<Value> results;
    for (Operation *op : group) {
      for (Value operand : op->getOperands())
        if (!group.contains(operand.getDefiningOp()))
          inputs.insert(operand);
      if (llvm::any_of(op->getUsers(),
                       [&](Operation *user) { return !group.contains(user); }))
        results.push_back(op->getResult(0));
    }
    OpBuilder builder(group.back());
    SmallVector<Location> locations;
    for (Operation *op : group)
      locations.push_back(op->getLoc());
    auto rows =
        RowsOp::create(builder, builder.getFusedLoc(locations),
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
    for (auto [result, replacement] :
         llvm::zip_equal(results, rows.getResults()))
      result.replaceAllUsesWith(replacement);
    for (Operation *op : llvm::reverse(group))
      op->erase();
  }
};
} // namespace
