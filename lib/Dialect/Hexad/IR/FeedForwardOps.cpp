//===- FeedForwardOps.cpp - Embedding, linear, activation, add ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatRange.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace hexad;

/// Rows of `columns` columns, as many as `like` has.
static RankedTensorType rowsLike(Value like, int64_t columns) {
  auto type = cast<RankedTensorType>(like.getType());
  return RankedTensorType::get({type.getDimSize(0), columns},
                               Float32Type::get(like.getContext()));
}

void EmbeddingOp::build(OpBuilder &builder, OperationState &state, Value ids,
                        Value table, int64_t offset) {
  int64_t columns = cast<RankedTensorType>(table.getType()).getDimSize(1);
  build(builder, state, rowsLike(ids, columns), ids, table, offset);
}

LogicalResult EmbeddingOp::verify() {
  auto ids = cast<RankedTensorType>(getIds().getType());
  auto table = cast<RankedTensorType>(getTable().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (table.getDimSize(1) != result.getDimSize(1))
    return emitOpError("embedding_c1: expected rows of ")
           << table.getDimSize(1) << " columns, found " << result;
  if (failed(
          verifyCompatibleShape(ids.getShape(), result.getShape().drop_back())))
    return emitOpError("embedding_c2: expected one row for each index of ")
           << ids << ", found " << result;
  int64_t offset = getOffset();
  if (offset < 0 || offset >= table.getDimSize(0))
    return emitOpError("embedding_c3: expected an offset from 0 to ")
           << table.getDimSize(0) - 1 << ", found " << offset;
  return success();
}

void LinearOp::build(OpBuilder &builder, OperationState &state, Value x,
                     Value weight, Value bias) {
  int64_t columns = cast<RankedTensorType>(weight.getType()).getDimSize(0);
  build(builder, state, rowsLike(x, columns), x, weight, bias);
}

LogicalResult LinearOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto weight = cast<RankedTensorType>(getWeight().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (x.getDimSize(1) != weight.getDimSize(1))
    return emitOpError("linear_c1: expected a weight of ")
           << x.getDimSize(1) << " columns (in), found " << weight;
  if (result.getDimSize(1) != weight.getDimSize(0) ||
      failed(verifyCompatibleShape(x.getShape().drop_back(),
                                   result.getShape().drop_back())))
    return emitOpError("linear_c2: expected ")
           << (x.isDynamicDim(0) ? "?" : Twine(x.getDimSize(0)).str()) << " x "
           << weight.getDimSize(0) << ", found " << result;
  if (getBias()) {
    auto bias = cast<RankedTensorType>(getBias().getType());
    if (bias.getDimSize(0) != weight.getDimSize(0))
      return emitOpError("linear_c3: expected a bias of ")
             << weight.getDimSize(0) << " elements, found " << bias;
  }
  return success();
}

unsigned AddOp::getNumRowOperands() { return 2; }

unsigned MultiplyOp::getNumRowOperands() { return 2; }

LogicalResult ScaleOp::verify() {
  if (!isFiniteInF32(getFactor().convertToDouble()))
    return emitOpError("scale_c1: expected a finite factor, found ")
           << getFactor().convertToDouble();
  return success();
}

LogicalResult ScaleColumnsOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto weight = cast<RankedTensorType>(getWeight().getType());
  if (weight.getDimSize(0) != x.getDimSize(1))
    return emitOpError("scale_columns_c1: expected a weight of ")
           << x.getDimSize(1) << " elements, found " << weight;
  return success();
}

LogicalResult SoftcapOp::verify() {
  double cap = getCap().convertToDouble();
  if (!isPositiveInF32(cap))
    return emitOpError("softcap_c1: expected a finite, positive cap, found ")
           << cap;
  return success();
}
