//===- AttentionOps.cpp - Scaled dot-product attention --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatRange.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
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
  if (!isFiniteInF32(getScale().convertToDouble()))
    return emitOpError("attention_c5: expected a finite scale, found ")
           << getScale().convertToDouble();
  int64_t rows = result.getDimSize(0);
  for (Value operand : operands)
    if (failed(verifyCompatibleDims(
            {rows, cast<RankedTensorType>(operand.getType()).getDimSize(0)})))
      return emitOpError("attention_c6: expected operands of as many rows as "
                         "the result, ")
             << result << ", found " << operand.getType();
  if (getSoftcap() && !isPositiveInF32(getSoftcap()->convertToDouble()))
    return emitOpError("attention_c7: expected a finite, positive softcap, "
                       "found ")
           << getSoftcap()->convertToDouble();
  if (getCache() && !getCausal())
    return emitOpError("attention_c8: expected causal attention where a cache "
                       "is extended");
  return success();
}

LogicalResult AttentionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getCache())
    return success();
  auto cache = symbols.lookupNearestSymbolFrom<CacheOp>(*this, getCacheAttr());
  if (!cache)
    return emitOpError("attention_c9: no cache of the name ") << getCacheAttr();
  auto fail = [&](StringRef message) {
    InFlightDiagnostic diagnostic = emitOpError(message);
    diagnostic.attachNote(cache.getLoc()) << "declared here";
    return diagnostic;
  };
  if (cache.getKvHeads() != getKvHeads() ||
      cache.getHeadDim() != getHeadDim() || cache.getWindow() != getWindow())
    return fail(
        "attention_c10: expected a cache of the same kv_heads, head_dim "
        "and window");
  if (cache.getLayers().has_value() != static_cast<bool>(getLayer()))
    return fail(getLayer() ? "attention_c11: a layer is chosen of a cache "
                             "without layers"
                           : "attention_c11: expected a layer of the cache");
  return success();
}
