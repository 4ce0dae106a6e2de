//===- LowerCopies.cpp - Copies that bufferization needed -----------------===//
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

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_LOWERCOPIESPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

/// The allocation that a value is all of, through loops; null if there is none.
static memref::AllocOp getAllocation(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? getAllocation(init->get()) : memref::AllocOp();
  }
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return getAllocation(
        loop.getInitArgs()[cast<OpResult>(value).getResultNumber()]);
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return getAllocation(cast.getSource());
  return dyn_cast<memref::AllocOp>(op);
}

namespace {
struct LowerCopiesPass : hexad::impl::LowerCopiesPassBase<LowerCopiesPass> {
  using LowerCopiesPassBase::LowerCopiesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    threads = findExtent(function, HEXAD_EXTENT_THREADS);
    SmallVector<memref::CopyOp> copies;
    function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies)
      if (failed(lower(copy)))
        return signalPassFailure();
    function.walk([](memref::DimOp dim) {
      memref::AllocOp alloc = getAllocation(dim.getSource());
      std::optional<int64_t> index = dim.getConstantIndex();
      if (!alloc || !index || !alloc.getType().isDynamicDim(*index))
        return;
      dim.replaceAllUsesWith(
          alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(*index)]);
      dim.erase();
    });
  }

private:
  /// All rows of a buffer outside of parallel loops: each thread copies some.
  LogicalResult lower(memref::CopyOp copy) {
    auto type = cast<MemRefType>(copy.getSource().getType());
    memref::AllocOp alloc = getAllocation(copy.getSource());
    unsigned rowDim = type.getRank() - 2;
    if (copy->getParentOfType<scf::ForallOp>() || !threads || !alloc ||
        !getAllocation(copy.getTarget()) || type.getRank() < 2 ||
        type.getRank() > 3 || !type.getElementType().isF32() ||
        !type.isDynamicDim(rowDim) || type.getNumDynamicDims() != 1)
      return copy.emitOpError("was left by bufferization: a value is needed "
                              "after its buffer was overwritten");
    ImplicitLocOpBuilder builder(copy.getLoc(), copy);
    Value rows = alloc.getDynamicSizes().front();
    auto forall = scf::ForallOp::create(
        builder, SmallVector<OpFoldResult>{threads}, ValueRange(),
        /*mapping=*/std::nullopt);
    builder.setInsertionPoint(forall.getTerminator());
    Value thread = forall.getInductionVar(0);
    Value next = arith::AddIOp::create(
        builder, thread, arith::ConstantIndexOp::create(builder, 1));
    auto share = [&](Value thread) -> Value {
      return arith::DivUIOp::create(
          builder, arith::MulIOp::create(builder, rows, thread), threads);
    };
    Value first = share(thread);
    Value size = arith::SubIOp::create(builder, share(next), first);
    int64_t members = rowDim ? type.getDimSize(0) : 1;
    for (int64_t member = 0; member < members; ++member) {
      auto slice = [&](Value buffer) -> Value {
        OpFoldResult zero = builder.getIndexAttr(0),
                     one = builder.getIndexAttr(1),
                     columns = builder.getIndexAttr(type.getShape().back());
        SmallVector<OpFoldResult> offsets{first, zero}, sizes{size, columns};
        if (rowDim) {
          offsets.insert(offsets.begin(), builder.getIndexAttr(member));
          sizes.insert(sizes.begin(), one);
        }
        SmallVector<OpFoldResult> strides(type.getRank(), one);
        MemRefType part = memref::SubViewOp::inferRankReducedResultType(
            {ShapedType::kDynamic, type.getShape().back()},
            cast<MemRefType>(buffer.getType()), offsets, sizes, strides);
        return memref::SubViewOp::create(builder, part, buffer, offsets, sizes,
                                         strides);
      };
      Value source = slice(copy.getSource()), target = slice(copy.getTarget());
      kernel::CopyRowsOp::create(builder, TypeRange(), source, target);
    }
    copy.erase();
    return success();
  }

  Value threads;
};
} // namespace
