//===- Doors.cpp - Rectangles to rows and back ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiler.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace hexad;

void Tiler::convertPackRows(PackRowsOp op) {
  Value rows = extent(HEXAD_EXTENT_ROWS);
  Value empty = tensor::EmptyOp::create(
      builder, SmallVector<OpFoldResult>{rows}, builder.getI32Type());
  Value where = table(HEXAD_POINTER_ROW_ELEMENT);
  Value rectangle = mapped(op.getRectangle());
  auto results = splitRows(rows, empty, [&](Range range, ValueRange parts) {
    auto gather = kernel::GatherIndicesOp::create(
        builder, parts[0].getType(), rectangle,
        sliceRows(where, range.offset, range.size), parts[0]);
    return SmallVector<Value>{gather.getResult(0)};
  });
  mapping.map(op.getRows(), results[0]);
}

void Tiler::convertPool(PoolOp op) {
  Value rows = mapped(op.getRows());
  int64_t columns =
      cast<RankedTensorType>(op.getPooled().getType()).getDimSize(1);
  Value count = extent(HEXAD_EXTENT_SEGMENT_ROWS);
  auto results = splitRows(
      count, emptyRows(count, columns),
      [&](Range range, ValueRange parts) -> SmallVector<Value> {
        if (op.getKind() == Pooling::First) {
          Value first = sliceRows(table(HEXAD_POINTER_SEGMENT_FIRST),
                                  range.offset, range.size);
          return kernel::GatherRowsOp::create(builder, parts[0].getType(), rows,
                                              first, parts[0])
              ->getResults();
        }
        Value bounds = sliceRows(table(HEXAD_POINTER_SEGMENT_BOUNDS),
                                 range.offset, add(range.size, index(1)));
        return kernel::MeanRowsOp::create(builder, parts[0].getType(), rows,
                                          bounds, parts[0], op.getSkipAttr())
            ->getResults();
      });
  mapping.map(op.getPooled(), results[0]);
}

void Tiler::convertSelectRows(SelectRowsOp op) {
  Value rows = mapped(op.getRows());
  int64_t columns =
      cast<RankedTensorType>(op.getSelected().getType()).getDimSize(1);
  Value count = extent(HEXAD_EXTENT_SELECTED_ROWS);
  Value where = table(HEXAD_POINTER_SELECTED_ROW);
  auto results = splitRows(
      count, emptyRows(count, columns), [&](Range range, ValueRange parts) {
        return SmallVector<Value>(
            kernel::GatherRowsOp::create(
                builder, parts[0].getType(), rows,
                sliceRows(where, range.offset, range.size), parts[0])
                ->getResults());
      });
  mapping.map(op.getSelected(), results[0]);
}

/// The caller's buffer as a tensor that is written in place.
static Value asDestination(ImplicitLocOpBuilder &builder, Value output) {
  auto type = cast<MemRefType>(output.getType());
  return bufferization::ToTensorOp::create(
      builder, RankedTensorType::get(type.getShape(), type.getElementType()),
      output, /*restrict=*/true, /*writable=*/true);
}

/// Selected rows go where their table says; what lies between is the runtime's.
void Tiler::convertSelectedOutput(Value rows, Value output) {
  Value count = extent(HEXAD_EXTENT_SELECTED);
  Value where = table(HEXAD_POINTER_SELECTED_ELEMENT);
  auto forall = scf::ForallOp::create(
      builder, SmallVector<OpFoldResult>{extent(HEXAD_EXTENT_THREADS)},
      ValueRange(), /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Range range = getShare(count, forall.getInductionVar(0));
  kernel::ScatterRowsOp::create(
      builder, TypeRange(), sliceRows(rows, range.offset, range.size),
      sliceRows(where, range.offset, range.size), output);
}

void Tiler::convertUnpackRows(UnpackRowsOp op, Value output) {
  Value rows = mapped(op.getRows());
  if (getRowDomain(op.getRows()) == RowDomain::Selected)
    return convertSelectedOutput(rows, output);
  Value elements = extent(HEXAD_EXTENT_ELEMENTS);
  Value where = table(HEXAD_POINTER_ELEMENT_ROW);
  auto type = cast<RankedTensorType>(rows.getType());
  Value destination = asDestination(builder, output);

  // One rectangle behind the other; a single one is a stack of one.
  int64_t count = type.getRank() == 3 ? type.getDimSize(0) : 1;
  for (int64_t layer = 0; layer < count; ++layer) {
    Value layerRows = rows;
    if (type.getRank() == 3) {
      SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0));
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(builder, builder.getLoc(), rows);
      SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
      offsets[0] = builder.getIndexAttr(layer);
      sizes[0] = builder.getIndexAttr(1);
      layerRows = tensor::ExtractSliceOp::create(
          builder,
          RankedTensorType::get(type.getShape().drop_front(),
                                type.getElementType()),
          rows, offsets, sizes, strides);
    }
    Value base = mul(elements, index(layer));
    Value layerDestination = sliceRows(destination, base, elements);
    auto results = splitRows(
        elements, layerDestination, [&](Range range, ValueRange parts) {
          Value part = sliceRows(where, range.offset, range.size);
          return SmallVector<Value>(
              kernel::GatherRowsOp::create(builder, parts[0].getType(),
                                           layerRows, part, parts[0])
                  ->getResults());
        });
    destination = insertRows(results[0], destination, base, elements);
  }
  bufferization::MaterializeInDestinationOp::create(
      builder, /*result=*/Type(), destination, output, /*restrict=*/true,
      /*writable=*/true);
}

void Tiler::convertPooledOutput(Value rows, Value output) {
  auto results =
      splitRows(extent(HEXAD_EXTENT_SEGMENTS), asDestination(builder, output),
                [&](Range range, ValueRange parts) {
                  return SmallVector<Value>(
                      kernel::CopyRowsOp::create(
                          builder, parts[0].getType(),
                          sliceRows(rows, range.offset, range.size), parts[0])
                          ->getResults());
                });
  bufferization::MaterializeInDestinationOp::create(
      builder, /*result=*/Type(), results[0], output, /*restrict=*/true,
      /*writable=*/true);
}

/// One thread adds the losses, whoever computed them. (A loop of one iteration
/// would be folded away, and every thread would do it.)
void Tiler::convertMeanLoss(MeanLossOp op, Value output) {
  builder.setLoc(op.getLoc());
  Value rows = getRealRowCount(getRowDomain(op.getLosses()));
  auto forall = scf::ForallOp::create(
      builder, SmallVector<OpFoldResult>{extent(HEXAD_EXTENT_THREADS)},
      ValueRange(), /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        forall.getInductionVar(0), index(0));
  auto branch = scf::IfOp::create(builder, isFirst, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  kernel::MeanLossOp::create(
      builder, TypeRange(), sliceRows(mapped(op.getLosses()), index(0), rows),
      sliceRows(mapped(op.getLabels()), index(0), rows), output);
}
