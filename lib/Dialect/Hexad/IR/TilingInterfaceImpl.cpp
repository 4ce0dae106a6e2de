//===- TilingInterfaceImpl.cpp - Tiling of row-local ops ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/TilingInterfaceImpl.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace hexad;

/// Rows `offset … offset + size - 1` of `source` with all their columns.
static tensor::ExtractSliceOp sliceRows(OpBuilder &builder, Location loc,
                                        Value source, OpFoldResult offset,
                                        OpFoldResult size) {
  int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  offsets[0] = offset;
  sizes[0] = size;
  return tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes,
                                        strides);
}

/// Whether a slice of `value` takes its rows whole: it begins in column 0 and
/// has all columns.
static bool takesWholeRows(Value value, ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    if (!isConstantIntValue(offsets[dim], 0) ||
        !isConstantIntValue(sizes[dim], type.getDimSize(dim)))
      return false;
  return true;
}

namespace {
template <typename OpTy>
struct RowLocalTiling
    : public TilingInterface::ExternalModel<RowLocalTiling<OpTy>, OpTy> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *) const {
    return {utils::IteratorType::parallel};
  }

  SmallVector<Range> getIterationDomain(Operation *op,
                                        OpBuilder &builder) const {
    OpFoldResult rows =
        tensor::getMixedSize(builder, op->getLoc(), op->getOperand(0), 0);
    return {Range{builder.getIndexAttr(0), rows, builder.getIndexAttr(1)}};
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    Location loc = op->getLoc();
    SmallVector<Value> operands(op->getOperands());
    TilingResult tile;
    unsigned rowOperands = cast<OpTy>(op).getNumRowOperands();
    for (Value &operand : MutableArrayRef(operands).take_front(rowOperands)) {
      auto slice = sliceRows(builder, loc, operand, offsets[0], sizes[0]);
      tile.generatedSlices.push_back(slice);
      operand = slice;
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto firstSlice = cast<RankedTensorType>(operands.front().getType());
    Operation *tiled = mlir::clone(
        builder, op, type.clone({firstSlice.getDimSize(0), type.getDimSize(1)}),
        operands);
    tile.tiledOps.push_back(tiled);
    tile.tiledValues.push_back(tiled->getResult(0));
    return tile;
  }

  LogicalResult
  getResultTilePosition(Operation *op, OpBuilder &builder, unsigned,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        SmallVector<OpFoldResult> &resultOffsets,
                        SmallVector<OpFoldResult> &resultSizes) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    resultOffsets = {offsets[0], builder.getIndexAttr(0)};
    resultSizes = {sizes[0], builder.getIndexAttr(type.getDimSize(1))};
    return success();
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    if (!takesWholeRows(op->getResult(0), offsets, sizes))
      return failure();
    domainOffsets.assign({offsets[0]});
    domainSizes.assign({sizes[0]});
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &builder,
                          unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    if (failed(getIterationDomainTileFromResultTile(
            op, builder, resultNumber, offsets, sizes, domainOffsets,
            domainSizes)))
      return failure();
    return getTiledImplementation(op, builder, domainOffsets, domainSizes);
  }

  /// All tiles must be whole rows of row operands, and the same rows.
  LogicalResult getIterationDomainTileFromOperandTiles(
      Operation *op, OpBuilder &, ArrayRef<unsigned> operandNumbers,
      ArrayRef<SmallVector<OpFoldResult>> allOffsets,
      ArrayRef<SmallVector<OpFoldResult>> allSizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    if (!isOpFusableWithProducerSlices(op, operandNumbers, allOffsets,
                                       allSizes))
      return failure();
    domainOffsets.assign({allOffsets.front()[0]});
    domainSizes.assign({allSizes.front()[0]});
    return success();
  }

  FailureOr<TilingResult> getTiledImplementationFromOperandTiles(
      Operation *op, OpBuilder &builder, ArrayRef<unsigned> operandNumbers,
      ArrayRef<SmallVector<OpFoldResult>> allOffsets,
      ArrayRef<SmallVector<OpFoldResult>> allSizes) const {
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    if (failed(getIterationDomainTileFromOperandTiles(
            op, builder, operandNumbers, allOffsets, allSizes, domainOffsets,
            domainSizes)))
      return failure();
    return getTiledImplementation(op, builder, domainOffsets, domainSizes);
  }

  bool isOpFusableWithConsumerSlice(Operation *op, unsigned resultNumber,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) const {
    return takesWholeRows(op->getResult(resultNumber), offsets, sizes);
  }

  bool isOpFusableWithProducerSlices(
      Operation *op, ArrayRef<unsigned> operandNumbers,
      ArrayRef<SmallVector<OpFoldResult>> allOffsets,
      ArrayRef<SmallVector<OpFoldResult>> allSizes) const {
    if (operandNumbers.empty())
      return false;
    for (auto [number, offsets, sizes] :
         llvm::zip_equal(operandNumbers, allOffsets, allSizes))
      if (number >= cast<OpTy>(op).getNumRowOperands() ||
          !takesWholeRows(op->getOperand(number), offsets, sizes) ||
          !isEqualConstantIntOrValue(offsets[0], allOffsets.front()[0]) ||
          !isEqualConstantIntOrValue(sizes[0], allSizes.front()[0]))
        return false;
    return true;
  }
};
} // namespace

template <typename... Ops> static void attachTiling(MLIRContext *context) {
  (Ops::template attachInterface<RowLocalTiling<Ops>>(*context), ...);
}

void hexad::registerTilingInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, HexadDialect *) {
    attachTiling<ActivationOp, AddOp, ClampOp, CrossEntropyOp, EmbeddingOp,
                 L2NormalizeOp, LayerNormOp, LinearOp, MultiplyOp, PatchesOp,
                 PrefixRowsOp, RmsNormOp, RopeOp, RotaryOp, RouteOp,
                 ScaleColumnsOp, ScaleOp, SoftcapOp, SoftmaxOp>(context);
  });
}
