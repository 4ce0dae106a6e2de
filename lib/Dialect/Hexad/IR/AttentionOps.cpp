//===- AttentionOps.cpp - Scaled dot-product attention --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
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

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult hexad::parseAttentionOperands(
    OpAsmParser &parser, OpAsmParser::UnresolvedOperand &query,
    std::optional<OpAsmParser::UnresolvedOperand> &key,
    std::optional<OpAsmParser::UnresolvedOperand> &value,
    OpAsmParser::UnresolvedOperand &segments) {
  SmallVector<OpAsmParser::UnresolvedOperand, 4> operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands))
    return failure();
  if (operands.size() != 2 && operands.size() != 4)
    return parser.emitError(loc, "expected query, key, value and segments, or "
                                 "query and segments, found ")
           << operands.size() << " operands";
  query = operands.front();
  segments = operands.back();
  if (operands.size() == 4) {
    key = operands[1];
    value = operands[2];
  }
  return success();
}

void hexad::printAttentionOperands(OpAsmPrinter &printer, Operation *,
                                   Value query, Value key, Value value,
                                   Value segments) {
  printer << query << ", ";
  for (Value operand : {key, value})
    if (operand)
      printer << operand << ", ";
  printer << segments;
}

ParseResult hexad::parseAttentionTypes(OpAsmParser &parser, Type &query,
                                       Type &key, Type &value) {
  if (parser.parseType(query))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseType(key) || parser.parseComma() ||
                 parser.parseType(value));
}

void hexad::printAttentionTypes(OpAsmPrinter &printer, Operation *, Type query,
                                Type key, Type value) {
  printer << query;
  for (Type type : {key, value})
    if (type)
      printer << ", " << type;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Checks what attention and its maps have in common, operand by operand:
/// `operands` are the query, the key and, in attention, the value; null ones
/// are absent.
template <typename Op>
static LogicalResult verifyHeads(Op op, ValueRange operands) {
  auto fail = [&](int constraint) {
    return op.emitOpError()
           << op->getName().stripDialect() << "_c" << constraint << ": ";
  };
  if (op.getHeads() % op.getKvHeads() != 0)
    return fail(1) << "expected heads to be a multiple of " << op.getKvHeads()
                   << " kv_heads, found " << op.getHeads();
  if (op.getOffsets().size() != operands.size())
    return fail(2) << "expected " << (operands.size() == 3 ? "three" : "two")
                   << " offsets, found " << op.getOffsets().size();
  const char *names[] = {"query", "key", "value"};
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (!operand)
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t offset = op.getOffsets()[index];
    int64_t columns = getEndColumn(
        offset, index == 0 ? op.getHeads() : op.getKvHeads(), op.getHeadDim());
    if (offset < 0 || type.getDimSize(1) < columns)
      return fail(3) << "expected a " << names[index] << " of at least "
                     << columns
                     << " columns and an offset of at least 0, found " << type
                     << " and " << offset;
  }
  if (!isFiniteInF32(op.getScale().convertToDouble()))
    return fail(5) << "expected a finite scale, found "
                   << op.getScale().convertToDouble();
  if (op.getSoftcap() && !isPositiveInF32(op.getSoftcap()->convertToDouble()))
    return fail(7) << "expected a finite, positive softcap, found "
                   << op.getSoftcap()->convertToDouble();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (!getKey() != !getValue() || (!getKey() && !getCache()))
    return emitOpError("attention_c12: expected a key and a value, or a cache "
                       "and neither of them");
  Value operands[] = {getQuery(), getKey(), getValue()};
  if (failed(verifyHeads(*this, operands)))
    return failure();
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t columns = getEndColumn(0, getHeads(), getHeadDim());
  if (result.getDimSize(1) != columns)
    return emitOpError("attention_c4: expected a result of ")
           << columns << " columns, found " << result;
  int64_t rows = result.getDimSize(0);
  for (Value operand : operands)
    if (operand &&
        failed(verifyCompatibleDims(
            {rows, cast<RankedTensorType>(operand.getType()).getDimSize(0)})))
      return emitOpError("attention_c6: expected operands of as many rows as "
                         "the result, ")
             << result << ", found " << operand.getType();
  if (getCache() && !getCausal())
    return emitOpError("attention_c8: expected causal attention where a cache "
                       "is extended");
  return success();
}

LogicalResult AttentionMapOp::verify() {
  Value operands[] = {getQuery(), getKey()};
  if (failed(verifyHeads(*this, operands)))
    return failure();
  auto maps = cast<RankedTensorType>(getMaps().getType());
  if (maps.getDimSize(2) != static_cast<int64_t>(getHeads()))
    return emitOpError("attention_map_c4: expected maps of ")
           << getHeads() << " heads, found " << maps;
  auto query = cast<RankedTensorType>(getQuery().getType());
  auto key = cast<RankedTensorType>(getKey().getType());
  if (failed(verifyCompatibleDims({query.getDimSize(0), key.getDimSize(0)})))
    return emitOpError("attention_map_c6: expected a key of as many rows as "
                       "the query, ")
           << query << ", found " << key;
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
