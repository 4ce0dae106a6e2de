//===- KernelToVector.cpp - Kernels to loops and vectors ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "hexad/CodeGen/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace hexad {
#define GEN_PASS_DEF_KERNELTOVECTORPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

using namespace mlir;
using namespace hexad::kernel;

namespace {

struct KernelToVectorPass
    : public hexad::impl::KernelToVectorPassBase<KernelToVectorPass> {
  void runOnOperation() override {
    SmallVector<Operation *> kernels;
    getOperation().walk([&](Operation *op) {
      if (isa_and_present<KernelDialect>(op->getDialect()) &&
          !isa<BarrierOp, PageOp, ThreadOp>(op))
        kernels.push_back(op);
    });
    for (Operation *op : kernels)
      if (failed(lowerKernel(op)))
        return signalPassFailure();
  }

  LogicalResult lowerKernel(Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<TensorType>(operand.getType()))
        return op->emitOpError(
                   "works on buffers when it is lowered to vectors, found ")
               << operand.getType();
    OpBuilder builder(op);
    VectorBuilder vectors(builder, op->getLoc());
    TypeSwitch<Operation *>(op)
        .Case<MatmulOp, LayerNormOp, RmsNormOp, L2NormalizeOp, SoftmaxOp,
              ActivationOp, ScaleOp, SoftcapOp, AddOp, MultiplyOp, RotaryOp,
              RopeOp, GatherIndicesOp, GatherRowsOp, GatherPackedRowsOp,
              ScatterRowsOp, CopyRowsOp, MeanRowsOp, ClampOp, RouteOp,
              GroupRowsOp, CombineRowsOp, LoadQueriesOp, PackKeysOp,
              PackValuesOp, SoftmaxPageOp, StartPagesOp, FinishPagesOp, ClearOp,
              IsPresentOp, MapPageOp, GatherPatchesOp, PrefixRowsOp,
              ScaleColumnsOp, StartCrossEntropyOp, CrossEntropyTileOp,
              FinishCrossEntropyOp, MeanLossOp>(
            [&](auto kernel) { lower(vectors, kernel); })
        .DefaultUnreachable("a hexad_kernel op without a lowering");
    op->erase();
    return success();
  }
};

} // namespace
