//===- AttentionOps.cpp - Scaled dot-product attention --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace hexad;

/// `offset + heads · headDim`, the largest number if that has more than 64
/// bits.
static int64_t getEndColumn(int64_t offset, int64_t heads, int64_t headDim) {
  int64_t columns;
  if (llvm::MulOverflow(heads, headDim, columns) ||
      llvm::AddOverflow(columns, offset, columns))
    return std::numeric_limits<int64_t>::max();
  return columns;
}

LogicalResult AttentionOp::verify() {
  if (getHeads() % getKvHeads() != 0)
    return emitOpError("attention_c1: expected heads to be a multiple of ")
           << getKvHeads() << " kv_heads, found " << getHeads();
  if (getOffsets().size() != 3)
    return emitOpError("attention_c2: expected three offsets, found ")
           << getOffsets().size();
  const char *names[] = {"query", "key", "value"};
  Value operands[] = {getQuery(), getKey(), getValue()};
  int64_t heads[] = {static_cast<int64_t>(getHeads()),
                     static_cast<int64_t>(getKvHeads()),
                     static_cast<int64_t>(getKvHeads())};
  for (auto [name, operand, operandHeads, offset] :
       llvm::zip_equal(names, operands, heads, getOffsets())) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t columns = getEndColumn(offset, operandHeads, getHeadDim());
    if (offset < 0 || type.getDimSize(1) < columns)
      return emitOpError("attention_c3: expected a ")
             << name << " of at least " << columns
             << " columns and an offset of at least 0, found " << type
             << " and " << offset;
  }
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t columns = getEndColumn(0, getHeads(), getHeadDim());
  if (result.getDimSize(1) != columns)
    return emitOpError("attention_c4: expected a result of ")
           << columns << " columns, found " << result;
  if (!std::isfinite(getScale().convertToDouble()))
    return emitOpError("attention_c5: expected a finite scale, found ")
           << getScale().convertToDouble();
  int64_t rows = result.getDimSize(0);
  for (Value operand : operands)
    if (failed(verifyCompatibleDims(
            {rows, cast<RankedTensorType>(operand.getType()).getDimSize(0)})))
      return emitOpError("attention_c6: expected operands of as many rows as "
                         "the result, ")
             << result << ", found " << operand.getType();
  return success();
}
