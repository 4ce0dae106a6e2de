//===- KernelOps.cpp - Verifiers and effects of hexad_kernel ops
//------------===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Kernel/IR/KernelDialect.h"

using namespace mlir;

using namespace hexad::kernel;

#define GET_OP_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// Memrefs that are inputs are read; destinations are read and written (rows
/// and columns that an op does not cover keep their contents).
static void getKernelEffects(
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

#define HEXAD_KERNEL_OP(OP)                                                    \
  void OP::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    getKernelEffects(*this, effects);                                          \
  }
HEXAD_KERNEL_OP(MatmulOp)
HEXAD_KERNEL_OP(LayerNormOp)
HEXAD_KERNEL_OP(L2NormalizeOp)
HEXAD_KERNEL_OP(SoftmaxOp)
HEXAD_KERNEL_OP(ActivationOp)
HEXAD_KERNEL_OP(AddOp)
HEXAD_KERNEL_OP(GatherIndicesOp)
HEXAD_KERNEL_OP(GatherRowsOp)
HEXAD_KERNEL_OP(CopyRowsOp)
HEXAD_KERNEL_OP(MeanRowsOp)
HEXAD_KERNEL_OP(LoadQueriesOp)
HEXAD_KERNEL_OP(PackKeysOp)
HEXAD_KERNEL_OP(PackValuesOp)
HEXAD_KERNEL_OP(SoftmaxPageOp)
HEXAD_KERNEL_OP(StartPagesOp)
HEXAD_KERNEL_OP(FinishPagesOp)
#undef HEXAD_KERNEL_OP

//===----------------------------------------------------------------------===//
// Parts of verifiers. A dynamic size fits everything.
//===----------------------------------------------------------------------===//

/// Lanes of a vector of the lowering: rows are padded to a multiple of it.
static constexpr int64_t lanes = 16;

static int64_t getSize(Value operand, int64_t dimension) {
  return cast<ShapedType>(operand.getType()).getDimSize(dimension);
}

static LogicalResult checkSame(Operation *op, StringRef what, int64_t found,
                               int64_t expected) {
  if (found == expected || ShapedType::isDynamic(found) ||
      ShapedType::isDynamic(expected))
    return success();
  return op->emitOpError(what)
         << " must be " << expected << ", found " << found;
}

static LogicalResult checkAtLeast(Operation *op, StringRef what, int64_t found,
                                  int64_t least) {
  if (ShapedType::isDynamic(found) || ShapedType::isDynamic(least) ||
      found >= least)
    return success();
  return op->emitOpError(what)
         << " must be at least " << least << ", found " << found;
}

/// `kernel_c1`: the last dimension is static and padded to whole vectors.
static LogicalResult checkPadded(Operation *op, StringRef what, Value operand) {
  int64_t rank = cast<ShapedType>(operand.getType()).getRank();
  int64_t found = getSize(operand, rank - 1);
  if (!ShapedType::isDynamic(found) && found % lanes == 0)
    return success();
  InFlightDiagnostic error = op->emitOpError("columns of ")
                             << what << " must be a static multiple of "
                             << lanes << ", found ";
  if (ShapedType::isDynamic(found))
    return error << "a dynamic number";
  return error << found;
}

/// The number of columns must be known, though it need not be padded.
static LogicalResult checkStaticColumns(Operation *op, StringRef what,
                                        Value operand) {
  if (!ShapedType::isDynamic(getSize(operand, 1)))
    return success();
  return op->emitOpError("columns of ") << what << " must be static";
}

/// `kernel_c2`: buffers have columns side by side, and static strides.
static LogicalResult checkStrides(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1 || llvm::any_of(strides, ShapedType::isDynamic))
      return op->emitOpError("operand ")
             << operand.getOperandNumber()
             << " must have static strides, the last of them 1, found " << type;
  }
  return success();
}

/// `kernel_c3`: operands are all tensors or all buffers.
static LogicalResult checkOneKind(Operation *op) {
  bool hasTensor =
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  bool hasBuffer =
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
  if (hasTensor && hasBuffer)
    return op->emitOpError("operands must be all tensors or all buffers");
  return success();
}

static LogicalResult checkOperands(Operation *op) {
  return success(succeeded(checkStrides(op)) && succeeded(checkOneKind(op)));
}

/// `kernel_c4`: `width` is positive and counts columns that are there.
static LogicalResult checkWidth(Operation *op, int64_t width, StringRef what,
                                int64_t columns) {
  if (width <= 0)
    return op->emitOpError("width must be positive, found ") << width;
  return checkAtLeast(op, ("columns of " + what).str(), columns, width);
}

/// `kernel_c5`: an operand and the destination have the same shape.
static LogicalResult checkSameRows(Operation *op, StringRef what, Value operand,
                                   Value destination) {
  return success(
      succeeded(checkSame(op, ("rows of " + what).str(), getSize(operand, 0),
                          getSize(destination, 0))) &&
      succeeded(checkSame(op, ("columns of " + what).str(), getSize(operand, 1),
                          getSize(destination, 1))));
}

/// `kernel_c6`: eps is a number and not negative.
static LogicalResult checkEps(Operation *op, const APFloat &eps) {
  if (eps.isFinite() && (!eps.isNegative() || eps.isZero()))
    return success();
  return op->emitOpError("eps must be finite and not negative, found ")
         << eps.convertToDouble();
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t columns) {
  if (rows <= 0)
    return emitError() << "a tile's rows must be positive, found " << rows;
  if (columns <= 0 || columns % lanes != 0)
    return emitError() << "a tile's columns must be a positive multiple of "
                       << lanes << ", found " << columns;
  return success();
}

LogicalResult MatmulOp::verify() {
  int64_t columns = getSize(getPanel(), 1), tileRows = getTile().getRows();
  if (failed(checkOperands(*this)) ||
      failed(checkPadded(*this, "panel", getPanel())))
    return failure();
  // matmul_c1
  if (columns == 0 || columns > getTile().getColumns())
    return emitOpError("columns of panel must be between 1 and the tile's ")
           << getTile().getColumns() << ", found " << columns;
  // matmul_c2
  if (failed(checkAtLeast(*this, "columns of a", getSize(getA(), 1),
                          getSize(getPanel(), 0))))
    return failure();
  // matmul_c3
  int64_t rows = getSize(getDestination(), 0);
  if (!ShapedType::isDynamic(rows) && rows % tileRows != 0)
    return emitOpError("rows of destination must be a multiple of the tile's ")
           << tileRows << ", found " << rows;
  if (failed(checkSame(*this, "rows of a", getSize(getA(), 0), rows)))
    return failure();
  // matmul_c4
  if (failed(checkSame(*this, "columns of destination",
                       getSize(getDestination(), 1), columns)))
    return failure();
  if (getBias() &&
      failed(checkSame(*this, "size of bias", getSize(getBias(), 0), columns)))
    return failure();
  if (getResidual() &&
      failed(checkSameRows(*this, "residual", getResidual(), getDestination())))
    return failure();
  // matmul_c5
  if (getFold() &&
      (failed(checkSame(*this, "rows of fold", getSize(getFold(), 0), 6)) ||
       failed(checkAtLeast(*this, "columns of fold", getSize(getFold(), 1),
                           rows))))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  int64_t columns = getSize(getDestination(), 1);
  if (failed(checkOperands(*this)) ||
      failed(checkPadded(*this, "destination", getDestination())) ||
      failed(checkSameRows(*this, "x", getX(), getDestination())) ||
      failed(checkWidth(*this, getWidth(), "destination", columns)) ||
      failed(checkEps(*this, getEps())))
    return failure();
  // layer_norm_c1
  if (failed(checkAtLeast(*this, "size of weight", getSize(getWeight(), 0),
                          llvm::alignTo(getWidth(), lanes))))
    return failure();
  if (getBias() &&
      failed(checkAtLeast(*this, "size of bias", getSize(getBias(), 0),
                          llvm::alignTo(getWidth(), lanes))))
    return failure();
  return success();
}

LogicalResult L2NormalizeOp::verify() {
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkPadded(*this, "destination", getDestination())) &&
      succeeded(checkSameRows(*this, "x", getX(), getDestination())) &&
      succeeded(checkWidth(*this, getWidth(), "destination",
                           getSize(getDestination(), 1))) &&
      succeeded(checkEps(*this, getEps())));
}

LogicalResult SoftmaxOp::verify() {
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkPadded(*this, "destination", getDestination())) &&
      succeeded(checkSameRows(*this, "x", getX(), getDestination())) &&
      succeeded(checkWidth(*this, getWidth(), "destination",
                           getSize(getDestination(), 1))));
}

LogicalResult ActivationOp::verify() {
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkPadded(*this, "destination", getDestination())) &&
      succeeded(checkSameRows(*this, "x", getX(), getDestination())));
}

LogicalResult AddOp::verify() {
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkPadded(*this, "destination", getDestination())) &&
      succeeded(checkSameRows(*this, "lhs", getLhs(), getDestination())) &&
      succeeded(checkSameRows(*this, "rhs", getRhs(), getDestination())));
}

//===----------------------------------------------------------------------===//
// Moving rows
//===----------------------------------------------------------------------===//

LogicalResult GatherIndicesOp::verify() {
  // gather_indices_c1
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkAtLeast(*this, "size of where", getSize(getWhere(), 0),
                             getSize(getDestination(), 0))));
}

LogicalResult GatherRowsOp::verify() {
  // gather_rows_c1, gather_rows_c2
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkStaticColumns(*this, "destination", getDestination())) &&
      succeeded(checkAtLeast(*this, "columns of source",
                             getSize(getSource(), 1),
                             getSize(getDestination(), 1))) &&
      succeeded(checkAtLeast(*this, "size of where", getSize(getWhere(), 0),
                             getSize(getDestination(), 0))));
}

LogicalResult CopyRowsOp::verify() {
  // copy_rows_c1
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkStaticColumns(*this, "destination", getDestination())) &&
      succeeded(checkAtLeast(*this, "columns of source",
                             getSize(getSource(), 1),
                             getSize(getDestination(), 1))) &&
      succeeded(checkAtLeast(*this, "rows of source", getSize(getSource(), 0),
                             getSize(getDestination(), 0))));
}

LogicalResult MeanRowsOp::verify() {
  // mean_rows_c1, mean_rows_c2
  int64_t rows = getSize(getDestination(), 0);
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkStaticColumns(*this, "destination", getDestination())) &&
      succeeded(checkAtLeast(*this, "columns of source",
                             getSize(getSource(), 1),
                             getSize(getDestination(), 1))) &&
      succeeded(checkAtLeast(*this, "size of bounds", getSize(getBounds(), 0),
                             ShapedType::isDynamic(rows) ? rows : rows + 1)));
}

//===----------------------------------------------------------------------===//
// Attention over pages
//===----------------------------------------------------------------------===//

LogicalResult LoadQueriesOp::verify() {
  // load_queries_c1
  int64_t rows = getSize(getSource(), 0);
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(checkPadded(*this, "destination", getDestination())) &&
      succeeded(checkWidth(*this, getWidth(), "destination",
                           getSize(getDestination(), 1))) &&
      succeeded(
          checkWidth(*this, getWidth(), "source", getSize(getSource(), 1))) &&
      succeeded(checkAtLeast(*this, "rows of destination",
                             getSize(getDestination(), 0), rows)));
}

/// `pack_page_c1`: a page's sizes are static, its panels hold whole vectors,
/// and the source has as many columns as are packed.
static LogicalResult checkPage(Operation *op, Value source, Value page,
                               int64_t width) {
  if (failed(checkOperands(op)) || failed(checkPadded(op, "destination", page)))
    return failure();
  if (!cast<ShapedType>(page.getType()).hasStaticShape())
    return op->emitOpError("destination must have a static shape, found ")
           << page.getType();
  return checkWidth(op, width, "source", getSize(source, 1));
}

LogicalResult PackKeysOp::verify() {
  Value page = getDestination();
  if (failed(checkPage(*this, getSource(), page, getWidth())))
    return failure();
  // pack_keys_c1
  if (failed(checkSame(*this, "depth of destination", getSize(page, 1),
                       getWidth())))
    return failure();
  // pack_keys_c2
  return checkAtLeast(*this, "keys of destination",
                      getSize(page, 0) * getSize(page, 2),
                      getSize(getSource(), 0));
}

LogicalResult PackValuesOp::verify() {
  Value page = getDestination();
  if (failed(checkPage(*this, getSource(), page, getWidth())))
    return failure();
  // pack_values_c1
  int64_t panels = llvm::divideCeil(getWidth(), getSize(page, 2));
  if (failed(
          checkSame(*this, "panels of destination", getSize(page, 0), panels)))
    return failure();
  // pack_values_c2
  return checkAtLeast(*this, "keys of destination", getSize(page, 1),
                      getSize(getSource(), 0));
}

/// `statistics_c1`: six rows, whole vectors of a column for each row of the
/// tile.
static LogicalResult checkStatistics(Operation *op, Value statistics,
                                     int64_t tile) {
  return success(succeeded(checkSame(op, "rows of statistics",
                                     getSize(statistics, 0), 6)) &&
                 succeeded(checkPadded(op, "statistics", statistics)) &&
                 succeeded(checkAtLeast(op, "columns of statistics",
                                        getSize(statistics, 1), tile)));
}

LogicalResult SoftmaxPageOp::verify() {
  return success(succeeded(checkOperands(*this)) &&
                 succeeded(checkPadded(*this, "scores", getScores())) &&
                 succeeded(checkStatistics(*this, getStatistics(),
                                           getSize(getScores(), 0))));
}

LogicalResult StartPagesOp::verify() {
  return success(succeeded(checkOperands(*this)) &&
                 succeeded(checkPadded(*this, "output", getOutput())) &&
                 succeeded(checkStatistics(*this, getStatistics(),
                                           getSize(getOutput(), 0))));
}

LogicalResult FinishPagesOp::verify() {
  // finish_pages_c1
  return success(
      succeeded(checkOperands(*this)) &&
      succeeded(
          checkStatistics(*this, getStatistics(), getSize(getOutput(), 0))) &&
      succeeded(
          checkWidth(*this, getWidth(), "output", getSize(getOutput(), 1))) &&
      succeeded(checkWidth(*this, getWidth(), "destination",
                           getSize(getDestination(), 1))) &&
      succeeded(checkAtLeast(*this, "rows of output", getSize(getOutput(), 0),
                             getSize(getDestination(), 0))));
}
