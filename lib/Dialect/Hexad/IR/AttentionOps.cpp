//===- AttentionOps.cpp - Scaled dot-product attention --------------------===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

LogicalResult AttentionOp::verify() {
  if (getHeads() % getKvHeads() != 0)
    return emitOpError("attention_c1: expected heads to be a multiple of ")
           << getKvHeads() << " kv_heads, found " << getHeads();
  if (getOffsets().size() != 3)
    return emitOpError("attention_c2: expected three offsets, found ")
           << getOffsets().size();
  const char *names[] = {"query", "key", "value"};
  Value operands[] = {getQuery(), getKey(), getValue()};
  for (auto [name, operand, offset, index] :
       llvm::zip(names, operands, getOffsets(), llvm::seq(0, 3))) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t heads = index == 0 ? getHeads() : getKvHeads();
    int64_t columns = offset + heads * static_cast<int64_t>(getHeadDim());
    if (offset < 0 || type.getDimSize(1) < columns)
      return emitOpError("attention_c3: expected a ")
             << name << " of at least " << columns << " columns, found "
             << type;
  }
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t columns = getHeads() * getHeadDim();
  if (result.getDimSize(1) != columns)
    return emitOpError("attention_c4: expected a result of ")
           << columns << " columns, found " << result;
  if (!std::isfinite(getScale().convertToDouble()))
    return emitOpError("attention_c5: expected a finite scale");
  return success();
}
