//===- PadActivations.cpp - Columns of activations to whole panels --------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerToKernels.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad;

namespace {
/// Follows activations from where they are made through loops and slices and
/// gives them their padded types.
class ActivationPadder {
public:
  explicit ActivationPadder(int64_t granule) : granule(granule) {}

  void pad(Value root) {
    widen(root);
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
        visit(use);
    }
  }

private:
  void widen(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!logicalColumns.try_emplace(value, type.getShape().back()).second)
      return;
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = llvm::alignTo(shape.back(), granule);
    value.setType(RankedTensorType::get(shape, type.getElementType()));
    worklist.push_back(value);
  }

  /// Gives a slice of all columns the padded number of them. Returns false for
  /// a slice of some columns, which stays as it is.
  template <typename SliceOp> bool widenSlice(SliceOp slice, Value whole) {
    int64_t columns = logicalColumns.lookup(whole);
    SmallVector<int64_t> sizes(slice.getStaticSizes());
    if (slice.getStaticOffsets().back() != 0 || sizes.back() != columns)
      return false;
    sizes.back() = cast<RankedTensorType>(whole.getType()).getShape().back();
    slice.setStaticSizes(sizes);
    return true;
  }

  void visit(OpOperand &use) {
    Operation *owner = use.getOwner();
    Value value = use.get();
    if (auto forall = dyn_cast<scf::ForallOp>(owner)) {
      if (!forall.isDpsInit(&use))
        return;
      widen(forall.getTiedBlockArgument(&use));
      widen(forall.getTiedOpResult(&use));
    } else if (auto loop = dyn_cast<scf::ForOp>(owner)) {
      widen(loop.getTiedLoopRegionIterArg(&use));
      widen(loop.getTiedLoopResult(&use));
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(owner)) {
      if (widenSlice(slice, value))
        widen(slice.getResult());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(owner)) {
      if (&use == &insert.getDestMutable()) {
        widenSlice(insert, value);
        widen(insert.getResult());
      }
    } else if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(owner)) {
      if (insert.getDest() == value)
        widenSlice(insert, value);
    } else if (isa<RowLocalOpInterface>(owner)) {
      widen(owner->getResult(0));
    } else if (auto kernel = dyn_cast<DestinationStyleOpInterface>(owner)) {
      if (kernel.isDpsInit(&use))
        widen(kernel.getTiedOpResult(&use));
    }
  }

  int64_t granule;
  DenseMap<Value, int64_t> logicalColumns;
  SmallVector<Value> worklist;
};
} // namespace

void hexad::padActivations(Operation *function, int64_t granule) {
  ActivationPadder padder(granule);
  function->walk([&](Operation *op) {
    if (isa<RowLocalOpInterface>(op) ||
        (isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op) &&
         op->removeAttr("hexad.activations")))
      padder.pad(op->getResult(0));
  });
}
