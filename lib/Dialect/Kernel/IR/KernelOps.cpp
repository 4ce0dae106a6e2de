//===- KernelOps.cpp - Verifiers and effects of hexad_kernel ops ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace hexad::kernel;

#define GET_OP_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void hexad::kernel::detail::getBufferEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t columns) {
  if (rows <= 0)
    return emitError() << "tile_c1: expected a positive number of rows, found "
                       << rows;
  if (columns <= 0 || columns % lanes != 0)
    return emitError() << "tile_c2: expected columns to be a positive multiple "
                          "of "
                       << lanes << ", found " << columns;
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::verify() {
  int64_t depth = getSize(getPanels(), 1),
          panelColumns = getSize(getPanels(), 2);
  int64_t panels = getSize(getPanels(), 0);
  int64_t rows = getSize(getDestination(), 0);
  int64_t tileColumns = getTile().getColumns();
  Constraints constraints(*this);
  constraints.padded("panels", getPanels())
      .require(panelColumns <= tileColumns, "matmul_c1",
               "expected at most the tile's " + Twine(tileColumns) +
                   " columns of panels, found " + Twine(panelColumns))
      .atLeast("matmul_c2", "columns of a", getSize(getA(), 1), depth);
  if (failed(constraints))
    return constraints;
  if (auto type = dyn_cast<MemRefType>(getPanels().getType())) {
    int64_t rowStride = type.getStridesAndOffset().first[1];
    constraints.require(rowStride == panelColumns, "matmul_c3",
                        "expected the rows of a panel to be contiguous, found "
                        "a stride of " +
                            Twine(rowStride));
  }
  int64_t columns = ShapedType::isDynamic(panels) ? ShapedType::kDynamic
                                                  : panels * panelColumns;
  constraints.same("matmul_c4", "rows of a", getSize(getA(), 0), rows)
      .atLeast("matmul_c5", "columns of destination",
               getSize(getDestination(), 1), columns);
  if (getBias())
    constraints.atLeast("matmul_c6", "elements of bias", getSize(getBias(), 0),
                        columns);
  if (getFold())
    constraints
        .same("matmul_c7", "rows of fold", getSize(getFold(), 0),
              StatisticCount)
        .atLeast("matmul_c7", "columns of fold", getSize(getFold(), 1), rows);
  for (auto [what, operand] :
       {std::pair("factor", getFactor()), {"residual", getResidual()}})
    if (operand)
      constraints
          .same("matmul_c8", Twine("rows of ") + what, getSize(operand, 0),
                rows)
          .atLeast("matmul_c8", Twine("columns of ") + what,
                   getSize(operand, 1), columns);
  return constraints;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  Constraints constraints(*this);
  constraints.padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .width(getWidth(), "destination", getDestination())
      .eps(getEps());
  int64_t padded = llvm::alignTo(getWidth(), lanes);
  constraints.atLeast("layer_norm_c1", "elements of weight",
                      getSize(getWeight(), 0), padded);
  if (getBias())
    constraints.atLeast("layer_norm_c2", "elements of bias",
                        getSize(getBias(), 0), padded);
  return constraints;
}

LogicalResult RmsNormOp::verify() {
  int64_t columns = getSize(getDestination(), 1), offset = getOffset();
  int64_t groups = getGroups(), size = getGroupSize();
  Constraints constraints(*this);
  constraints.padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .require(offset >= 0 && groups > 0 && size > 0 && offset < columns &&
                   groups <= (columns - offset) / size,
               "rms_norm_c1",
               "expected " + Twine(groups) + " groups of " + Twine(size) +
                   " columns from column " + Twine(offset) +
                   " on to lie inside " + Twine(columns) + " columns")
      .require(getWeight() || !getUnitOffset(), "rms_norm_c3",
               "expected a weight beside unit_offset")
      .eps(getEps());
  if (getWeight())
    constraints.atLeast("rms_norm_c2", "elements of weight",
                        getSize(getWeight(), 0), llvm::alignTo(size, lanes));
  return constraints;
}

LogicalResult L2NormalizeOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .width(getWidth(), "destination", getDestination())
      .eps(getEps());
}

LogicalResult SoftmaxOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .width(getWidth(), "destination", getDestination());
}

LogicalResult ActivationOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination());
}

LogicalResult ScaleOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination());
}

LogicalResult ScaleColumnsOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .atLeast("scale_columns_c1", "elements of weight",
               getSize(getWeight(), 0), getSize(getDestination(), 1));
}

LogicalResult SoftcapOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination());
}

template <typename Op> static LogicalResult verifyBinary(Op op) {
  return Constraints(op)
      .padded("destination", op.getDestination())
      .sameShape("lhs", op.getLhs(), op.getDestination())
      .sameShape("rhs", op.getRhs(), op.getDestination());
}

LogicalResult AddOp::verify() { return verifyBinary(*this); }
LogicalResult MultiplyOp::verify() { return verifyBinary(*this); }

LogicalResult RotaryOp::verify() {
  int64_t frequencies = getInvFreq().size();
  return Constraints(*this)
      .padded("destination", getDestination())
      .require(frequencies > 0, "rotary_c2",
               "expected at least one frequency, found none")
      .atLeast("rotary_c2", "columns of destination",
               getSize(getDestination(), 1), 2 * frequencies)
      .atLeast("rotary_c1", "elements of positions", getSize(getPositions(), 0),
               getSize(getDestination(), 0));
}

LogicalResult RopeOp::verify() {
  int64_t columns = getSize(getDestination(), 1), offset = getOffset();
  int64_t heads = getHeads(), headDim = getHeadDim(), n = getFrequencies();
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .require(offset >= 0 && heads > 0 && headDim > 0 && offset < columns &&
                   heads <= (columns - offset) / headDim,
               "rope_c1",
               "expected " + Twine(heads) + " heads of " + Twine(headDim) +
                   " columns from column " + Twine(offset) +
                   " on to lie inside " + Twine(columns) + " columns")
      .require(n > 0 && n <= headDim / 2, "rope_c2",
               "expected from 1 to " + Twine(headDim / 2) +
                   " frequencies, found " + Twine(n))
      .atLeast("rope_c2", "columns of rotary", getSize(getRotary(), 1), 2 * n)
      .same("rope_c3", "rows of rotary", getSize(getRotary(), 0),
            getSize(getDestination(), 0));
}

//===----------------------------------------------------------------------===//
// Moving rows
//===----------------------------------------------------------------------===//

LogicalResult GatherIndicesOp::verify() {
  return Constraints(*this).atLeast("gather_indices_c1", "elements of where",
                                    getSize(getWhere(), 0),
                                    getSize(getDestination(), 0));
}

LogicalResult GatherRowsOp::verify() {
  return Constraints(*this)
      .staticColumns("gather_rows_c1", "destination", getDestination())
      .atLeast("gather_rows_c2", "columns of source", getSize(getSource(), 1),
               getSize(getDestination(), 1))
      .atLeast("gather_rows_c3", "elements of where", getSize(getWhere(), 0),
               getSize(getDestination(), 0));
}

LogicalResult GatherPackedRowsOp::verify() {
  int64_t depth = getSize(getPanels(), 1), columns = getSize(getPanels(), 2);
  return Constraints(*this)
      .padded("destination", getDestination())
      .require(!ShapedType::isDynamic(depth) && !ShapedType::isDynamic(columns),
               "gather_packed_rows_c1", "expected panels of static shape")
      .atLeast("gather_packed_rows_c1", "columns of destination",
               getSize(getDestination(), 1), depth)
      .atLeast("gather_packed_rows_c2", "elements of where",
               getSize(getWhere(), 0), getSize(getDestination(), 0));
}

LogicalResult ScatterRowsOp::verify() {
  return Constraints(*this)
      .staticColumns("scatter_rows_c1", "destination", getDestination())
      .atLeast("scatter_rows_c2", "columns of source", getSize(getSource(), 1),
               getSize(getDestination(), 1))
      .atLeast("scatter_rows_c3", "elements of where", getSize(getWhere(), 0),
               getSize(getSource(), 0));
}

LogicalResult CopyRowsOp::verify() {
  return Constraints(*this)
      .staticColumns("copy_rows_c1", "destination", getDestination())
      .atLeast("copy_rows_c2", "columns of source", getSize(getSource(), 1),
               getSize(getDestination(), 1))
      .atLeast("copy_rows_c3", "rows of source", getSize(getSource(), 0),
               getSize(getDestination(), 0));
}

LogicalResult MeanRowsOp::verify() {
  int64_t rows = getSize(getDestination(), 0), skip = getSkip();
  return Constraints(*this)
      .staticColumns("mean_rows_c1", "destination", getDestination())
      .atLeast("mean_rows_c2", "columns of source", getSize(getSource(), 1),
               getSize(getDestination(), 1))
      .atLeast("mean_rows_c3", "elements of bounds", getSize(getBounds(), 0),
               ShapedType::isDynamic(rows) ? rows : rows + 1)
      .require(skip >= 0 && skip <= INT32_MAX, "mean_rows_c4",
               "expected to skip from 0 to " + Twine(INT32_MAX) +
                   " rows, found " + Twine(skip));
}

//===----------------------------------------------------------------------===//
// Attention over pages
//===----------------------------------------------------------------------===//

LogicalResult LoadQueriesOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .width(getWidth(), "destination", getDestination())
      .width(getWidth(), "source", getSource())
      .atLeast("load_queries_c1", "rows of destination",
               getSize(getDestination(), 0), getSize(getSource(), 0));
}

LogicalResult PackKeysOp::verify() {
  Value page = getDestination();
  return Constraints(*this)
      .page(getSource(), page, getWidth())
      .same("pack_keys_c1", "rows of each panel", getSize(page, 1), getWidth())
      .atLeast("pack_keys_c2", "keys in the page",
               getSize(page, 0) * getSize(page, 2), getSize(getSource(), 0));
}

LogicalResult PackValuesOp::verify() {
  Value page = getDestination();
  return Constraints(*this)
      .page(getSource(), page, getWidth())
      .atLeast("pack_values_c1", "columns in the page",
               getSize(page, 0) * getSize(page, 2), getWidth())
      .atLeast("pack_values_c2", "keys in the page", getSize(page, 1),
               getSize(getSource(), 0));
}

LogicalResult SoftmaxPageOp::verify() {
  return Constraints(*this)
      .padded("scores", getScores())
      .statistics(getStatistics(), getScores())
      .mask(*this, "softmax_page");
}

LogicalResult ClearOp::verify() { return Constraints(*this); }

LogicalResult MapPageOp::verify() {
  return Constraints(*this)
      .padded("scores", getScores())
      .statistics(getStatistics(), getScores())
      .mask(*this, "map_page");
}

LogicalResult StartPagesOp::verify() {
  return Constraints(*this)
      .padded("output", getOutput())
      .statistics(getStatistics(), getOutput());
}

LogicalResult PageOp::verify() {
  MemRefType type = getResult().getType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return emitOpError("page_c1: expected a static shape and no layout, found ")
           << type;
  if (static_cast<int64_t>(getOffset()) < 0)
    return emitOpError("page_c2: expected an offset of at least 0, found ")
           << static_cast<int64_t>(getOffset());
  return success();
}

LogicalResult FinishPagesOp::verify() {
  return Constraints(*this)
      .padded("output", getOutput())
      .statistics(getStatistics(), getOutput())
      .width(getWidth(), "output", getOutput())
      .width(getWidth(), "destination", getDestination())
      .atLeast("finish_pages_c1", "rows of output", getSize(getOutput(), 0),
               getSize(getDestination(), 0));
}
