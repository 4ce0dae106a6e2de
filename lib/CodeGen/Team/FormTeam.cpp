//===- FormTeam.cpp - Every thread runs the whole function ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../EntryArguments.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_FORMTEAMPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

namespace {
struct FormTeamPass : hexad::impl::FormTeamPassBase<FormTeamPass> {
  using FormTeamPassBase::FormTeamPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    threads = findExtent(function, HEXAD_EXTENT_THREADS);
    if (!threads) {
      function.emitError("expected an argument with the number of threads "
                         "(hexad-tile)");
      return signalPassFailure();
    }
    Builder builder(&getContext());
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(
        index, builder.getIndexType(),
        builder.getDictionaryAttr(
            builder.getNamedAttr("hexad.thread", builder.getUnitAttr())),
        function.getLoc());
    thread = function.getArgument(index);

    SmallVector<scf::ForallOp> loops;
    function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    for (scf::ForallOp loop : loops)
      if (failed(distribute(loop)))
        return signalPassFailure();
    function.walk([&](kernel::ThreadOp op) {
      op.replaceAllUsesWith(thread);
      op.erase();
    });
  }

private:
  /// The thread's share of the iterations, in order of their linear number: a
  /// contiguous one, or each `threads`-th of a `hexad.cyclic` loop, whose later
  /// iterations are longer. Which thread does an iteration changes no result.
  LogicalResult distribute(scf::ForallOp loop) {
    if (loop->getNumResults() != 0)
      return loop.emitOpError("expected buffers");
    if (!loop.isNormalized())
      return loop.emitOpError("expected bounds from 0 by steps of 1");
    ImplicitLocOpBuilder builder(loop.getLoc(), loop);
    SmallVector<Value> bounds;
    for (OpFoldResult bound : loop.getMixedUpperBound())
      bounds.push_back(
          getValueOrCreateConstantIndexOp(builder, loop.getLoc(), bound));
    Operation *last;
    if (bounds.size() == 1 && bounds[0] == threads) {
      inlineBody(loop, loop, {thread});
      last = loop;
    } else {
      Value total = bounds[0];
      for (Value bound : ArrayRef(bounds).drop_front())
        total = arith::MulIOp::create(builder, total, bound);
      auto mine = loop->hasAttr("hexad.cyclic")
                      ? scf::ForOp::create(builder, thread, total, threads)
                      : makeContiguousShare(builder, total);
      builder.setInsertionPointToStart(mine.getBody());
      SmallVector<Value> indices(bounds.size());
      Value linear = mine.getInductionVar();
      for (size_t dim = bounds.size() - 1; dim > 0; --dim) {
        indices[dim] = arith::RemUIOp::create(builder, linear, bounds[dim]);
        linear = arith::DivUIOp::create(builder, linear, bounds[dim]);
      }
      indices[0] = linear;
      inlineBody(loop, mine.getBody()->getTerminator(), indices);
      last = mine;
    }
    if (!loop->hasAttr("hexad.nowait")) {
      builder.setInsertionPointAfter(last);
      kernel::BarrierOp::create(builder);
    }
    loop.erase();
    return success();
  }

  scf::ForOp makeContiguousShare(ImplicitLocOpBuilder &builder, Value total) {
    Value one = arith::ConstantIndexOp::create(builder, 1);
    Value begin = arith::DivUIOp::create(
        builder, arith::MulIOp::create(builder, total, thread), threads);
    Value next = arith::AddIOp::create(builder, thread, one);
    Value end = arith::DivUIOp::create(
        builder, arith::MulIOp::create(builder, total, next), threads);
    return scf::ForOp::create(builder, begin, end, one);
  }

  void inlineBody(scf::ForallOp loop, Operation *before, ValueRange indices) {
    loop.getTerminator()->erase();
    IRRewriter rewriter(loop.getContext());
    rewriter.inlineBlockBefore(loop.getBody(), before, indices);
    // An empty body, so that the loop can be erased.
    rewriter.createBlock(&loop.getRegion());
  }

  Value threads, thread;
};
} // namespace
