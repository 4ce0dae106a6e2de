//===- CrossEntropy.cpp - The loop over tiles of classes ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CrossEntropy.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace hexad;

CrossEntropyLowering::CrossEntropyLowering(ImplicitLocOpBuilder &builder,
                                           CrossEntropyOp op, int64_t classes,
                                           OpFoldResult rows, int64_t blockRows)
    : builder(builder), labels(op.getLabels()), classes(classes), rows(rows),
      blockRows(blockRows) {}

Value CrossEntropyLowering::makeScratch(int64_t columns) {
  // Not tensor.empty: two of the same type would become one (CSE), which
  // bufferization had to part again by an allocation of dynamic size.
  Value scratch = bufferization::AllocTensorOp::create(
      builder,
      RankedTensorType::get({blockRows, columns}, builder.getF32Type()),
      /*dynamicSizes=*/ValueRange());
  return slice(scratch, {builder.getIndexAttr(0), builder.getIndexAttr(0)},
               {rows, builder.getIndexAttr(columns)});
}

Value CrossEntropyLowering::slice(Value source, ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, source, offsets, sizes,
                                        strides);
}

Value CrossEntropyLowering::getSize(Value first, int64_t all) {
  return builder.createOrFold<arith::MinUIOp>(
      builder.createOrFold<arith::SubIOp>(
          arith::ConstantIndexOp::create(builder, all), first),
      arith::ConstantIndexOp::create(builder, tileClasses));
}

/// The first class that is not looked at: 0 if no row has a label.
Value CrossEntropyLowering::getEnd() {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value none = arith::ConstantIntOp::create(builder, 0, /*width=*/1);
  auto loop = scf::ForOp::create(
      builder, zero,
      getValueOrCreateConstantIndexOp(builder, builder.getLoc(), rows), one,
      none);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value label =
        tensor::ExtractOp::create(builder, labels, loop.getInductionVar());
    Value isLabel = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::sge, label,
        arith::ConstantIntOp::create(builder, 0, /*width=*/32));
    Value either =
        arith::OrIOp::create(builder, loop.getRegionIterArg(0), isLabel);
    scf::YieldOp::create(builder, either);
  }
  return arith::SelectOp::create(
      builder, loop.getResult(0),
      arith::ConstantIndexOp::create(builder, classes), zero);
}

Value CrossEntropyLowering::lower(Value destination,
                                  function_ref<Value(Value first)> makeLogits) {
  Value start = makeScratch(kernel::crossEntropyColumns);
  start = kernel::StartCrossEntropyOp::create(builder, start.getType(), start)
              .getResult(0);
  auto loop = scf::ForOp::create(
      builder, arith::ConstantIndexOp::create(builder, 0), getEnd(),
      arith::ConstantIndexOp::create(builder, tileClasses), start);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar(), statistics = loop.getRegionIterArg(0);
    Value logits = makeLogits(first);
    Value folded = kernel::CrossEntropyTileOp::create(
                       builder, statistics.getType(), logits, labels, first,
                       getSize(first, classes), statistics)
                       .getResult(0);
    scf::YieldOp::create(builder, folded);
  }
  return kernel::FinishCrossEntropyOp::create(builder, destination.getType(),
                                              loop.getResult(0), labels,
                                              destination)
      .getResult(0);
}

Value CrossEntropyLowering::sliceLogits(Value logits, Value first) {
  int64_t columns = cast<RankedTensorType>(logits.getType()).getDimSize(1);
  return slice(logits, {builder.getIndexAttr(0), first},
               {rows, getSize(first, columns)});
}

Value CrossEntropyLowering::makeLogits(Value x, Value panels, Value bias,
                                       Value first, kernel::TileAttr tile) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(panels.getType()).getShape();
  auto attribute = [&](int64_t value) { return builder.getIndexAttr(value); };
  Value panelColumns = arith::ConstantIndexOp::create(builder, shape[2]);
  Value columns = getSize(first, shape[0] * shape[2]);
  auto divide = [&](Value value) -> Value {
    return builder.createOrFold<arith::DivUIOp>(value, panelColumns);
  };
  Value some =
      slice(panels, {divide(first), attribute(0), attribute(0)},
            {divide(columns), attribute(shape[1]), attribute(shape[2])});
  if (bias)
    bias = slice(bias, {first}, {columns});
  Value destination = makeScratch(std::min(tileClasses, shape[0] * shape[2]));
  return kernel::MatmulOp::create(
             builder, destination.getType(), x, some, bias, /*factor=*/Value(),
             /*residual=*/Value(), /*fold=*/Value(), destination, tile,
             /*activation=*/ActivationAttr())
      .getResult(0);
}
