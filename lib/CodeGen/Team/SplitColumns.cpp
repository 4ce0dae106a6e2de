//===- SplitColumns.cpp - Few rows are split by columns -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../EntryArguments.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_SPLITCOLUMNSPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

/// Fewer strips than these are split by columns whatever the number of threads
/// (bench/model, two threads: columns are faster up to here).
static constexpr int64_t fewStrips = 12;

/// A kernel, that is: something that reads and writes buffers.
static bool isKernel(Operation *op) {
  return isa_and_present<kernel::KernelDialect>(op->getDialect()) &&
         !isa<kernel::ThreadOp>(op);
}

static bool hasKernels(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isKernel(inner) ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Changes one loop over threads.
class ColumnSplit {
public:
  /// `few` says at run time whether there are few rows.
  ColumnSplit(scf::ForallOp loop, Value few, Value threads)
      : loop(loop), few(few), threads(threads), b(loop.getLoc(), loop),
        thread(loop.getInductionVar(0)) {}

  /// Whether the loop multiplies by matrices, and is made of kernels, of loops
  /// over blocks of rows, and of what reads and writes nothing.
  bool isPossible() {
    bool multiplies = false;
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto blocks = dyn_cast<scf::ForOp>(op);
      if (!blocks) {
        if (!isPossible(op, multiplies))
          return false;
        continue;
      }
      if (blocks->getNumResults() > 0)
        return false;
      for (Operation &inner : blocks.getBody()->without_terminator())
        if (!isPossible(inner, multiplies))
          return false;
    }
    return multiplies;
  }

  void run() {
    SmallVector<kernel::ThreadOp> ids;
    loop.walk([&](kernel::ThreadOp id) { ids.push_back(id); });
    SmallVector<Operation *> body;
    for (Operation &op : loop.getBody()->without_terminator())
      body.push_back(&op);
    b.setInsertionPointToStart(loop.getBody());
    Value actsAs = arith::SelectOp::create(b, few, index(0), thread);
    Value team = arith::SelectOp::create(b, few, index(1), threads);
    isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, actsAs);
    for (Operation *op : body)
      op->walk([&](Operation *inner) {
        inner->replaceUsesOfWith(thread, actsAs);
        inner->replaceUsesOfWith(threads, team);
      });
    for (kernel::ThreadOp id : ids) {
      id.replaceAllUsesWith(actsAs);
      id.erase();
    }
    change(*loop.getBody());
  }

  /// Whoever comes next may need rows of other threads.
  void addBarrier() {
    b.setInsertionPoint(loop.getTerminator());
    createBarrier();
  }

private:
  static bool isPossible(Operation &op, bool &multiplies) {
    if (op.getNumRegions() > 0)
      return false;
    if (auto matmul = dyn_cast<kernel::MatmulOp>(op)) {
      multiplies = true;
      // Adds to what is there: that must be the columns of the same thread.
      return !matmul.getFold();
    }
    // Anything else with effects would be repeated by every thread.
    return isKernel(&op) || isa<kernel::ThreadOp>(op) ||
           isMemoryEffectFree(&op);
  }

  void change(Block &block) {
    enum { Nothing, RowLocal, Multiplied } before = Nothing;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      b.setInsertionPoint(&op);
      b.setLoc(op.getLoc());
      if (auto blocks = dyn_cast<scf::ForOp>(op);
          blocks && hasKernels(blocks)) {
        if (before != Nothing)
          createBarrier();
        change(*blocks.getBody());
        before = Nothing;
      } else if (auto matmul = dyn_cast<kernel::MatmulOp>(op)) {
        if (before != Nothing)
          createBarrier();
        takeColumns(matmul);
        before = Multiplied;
      } else if (isKernel(&op)) {
        if (before == Multiplied)
          createBarrier();
        auto mine = scf::IfOp::create(b, isFirst);
        op.moveBefore(mine.thenBlock()->getTerminator());
        before = RowLocal;
      }
    }
    if (before == Nothing)
      return;
    b.setInsertionPoint(block.getTerminator());
    createBarrier();
  }

  void createBarrier() {
    auto together = scf::IfOp::create(b, few);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(together.thenBlock());
    kernel::BarrierOp::create(b);
  }

  /// Few rows: the thread's share of the panels, and the columns that belong to
  /// them. Many: all.
  void takeColumns(kernel::MatmulOp op) {
    auto panels = cast<MemRefType>(op.getPanels().getType());
    Value all = b.createOrFold<memref::DimOp>(op.getPanels(), index(0));
    Value next = arith::AddIOp::create(b, thread, index(1));
    auto share = [&](Value thread) -> Value {
      return arith::DivUIOp::create(b, arith::MulIOp::create(b, all, thread),
                                    threads);
    };
    Value first = arith::SelectOp::create(b, few, share(thread), index(0));
    Value last = arith::SelectOp::create(b, few, share(next), all);
    Value count = arith::SubIOp::create(b, last, first);
    Value width = index(panels.getDimSize(2));
    Value column = arith::MulIOp::create(b, first, width);
    Value columns = arith::MulIOp::create(b, count, width);
    auto take = [&](OpOperand &operand, unsigned dim, Value offset,
                    Value size) {
      Value buffer = operand.get();
      SmallVector<OpFoldResult> sizes =
          memref::getMixedSizes(b, b.getLoc(), buffer);
      SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
      offsets[dim] = offset;
      sizes[dim] = size;
      operand.set(
          memref::SubViewOp::create(b, buffer, offsets, sizes, strides));
    };
    take(op.getPanelsMutable(), 0, first, count);
    for (OpOperand &bias : op.getBiasMutable())
      take(bias, 0, column, columns);
    for (OpOperand &factor : op.getFactorMutable())
      take(factor, 1, column, columns);
    for (OpOperand &residual : op.getResidualMutable())
      take(residual, 1, column, columns);
    take(op.getDestinationMutable(), 1, column, columns);
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  scf::ForallOp loop;
  Value few, threads;
  ImplicitLocOpBuilder b;
  Value thread;
  Value isFirst; ///< many rows, or the first thread
};

struct SplitColumnsPass : hexad::impl::SplitColumnsPassBase<SplitColumnsPass> {
  using SplitColumnsPassBase::SplitColumnsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Value threads = findExtent(function, HEXAD_EXTENT_THREADS);
    if (!threads)
      return;
    SmallVector<scf::ForallOp> loops;
    function.walk([&](scf::ForallOp loop) {
      if (loop->hasAttr("hexad.split"))
        loops.push_back(loop);
    });
    DenseMap<Attribute, Value> fewOf;
    for (scf::ForallOp loop : loops) {
      Value &few = fewOf[loop->getAttr("hexad.split")];
      if (!few)
        few = compareStrips(loop, threads);
      if (!few)
        continue;
      ColumnSplit split(loop, few, threads);
      if (split.isPossible())
        split.run();
      else if (loop->hasAttr("hexad.nowait"))
        split.addBarrier();
    }
  }

private:
  /// Whether there are few strips of rows: fewer than threads, or so few that
  /// reading all weights by each thread costs more than the work that only one
  /// does. Null if the function does not know how many strips there are.
  Value compareStrips(scf::ForallOp loop, Value threads) {
    auto name = loop->getAttrOfType<StringAttr>("hexad.split");
    std::optional<hexad_extent> extent =
        llvm::StringSwitch<std::optional<hexad_extent>>(name ? name.getValue()
                                                             : "")
            .Case("tokens", HEXAD_EXTENT_STRIPS)
            .Case("segments", HEXAD_EXTENT_SEGMENT_STRIPS)
            .Case("selected", HEXAD_EXTENT_SELECTED_STRIPS)
            .Default(std::nullopt);
    Value strips = extent ? findExtent(getOperation(), *extent) : Value();
    if (!strips)
      return {};
    ImplicitLocOpBuilder builder(loop.getLoc(),
                                 &getOperation().getBody().front(),
                                 getOperation().getBody().front().begin());
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, value);
    };
    Value most = arith::MaxUIOp::create(builder, threads, index(fewStrips));
    // One thread has nobody to share columns with.
    Value isAlone = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          threads, index(1));
    most = arith::SelectOp::create(builder, isAlone, index(0), most);
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, strips,
                                 most);
  }
};
} // namespace
