//===- PositionOps.cpp - Rotary position embedding ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatRange.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

LogicalResult RotaryOp::verify() {
  auto positions = cast<RankedTensorType>(getPositions().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t frequencies = getInvFreq().size();
  if (frequencies == 0 || result.getDimSize(1) != 2 * frequencies)
    return emitOpError("rotary_c1: expected two columns for each of at least "
                       "one frequency, found ")
           << frequencies << " frequencies and " << result;
  for (float frequency : getInvFreq())
    if (!std::isfinite(frequency) || frequency < 0)
      return emitOpError("rotary_c2: expected finite frequencies of at least "
                         "0, found ")
             << frequency;
  if (!isFiniteInF32(getAttentionFactor().convertToDouble()))
    return emitOpError("rotary_c3: expected a finite attention_factor, found ")
           << getAttentionFactor().convertToDouble();
  if (failed(verifyCompatibleShape(positions.getShape(),
                                   result.getShape().drop_back())))
    return emitOpError("rotary_c4: expected one row for each position of ")
           << positions << ", found " << result;
  return success();
}

unsigned RopeOp::getNumRowOperands() { return 2; }

LogicalResult RopeOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto rotary = cast<RankedTensorType>(getRotary().getType());
  int64_t columns = x.getDimSize(1), offset = getOffset();
  int64_t heads = getHeads(), headDim = getHeadDim();
  if (offset < 0 || offset > columns || headDim > columns - offset ||
      heads > (columns - offset) / headDim)
    return emitOpError("rope_c1: expected ")
           << heads << " heads of " << headDim << " columns from column "
           << offset << " on to lie inside " << x;
  int64_t rotated = rotary.getDimSize(1);
  if (rotated % 2 != 0 || rotated > headDim)
    return emitOpError("rope_c2: expected an even number of at most ")
           << headDim << " columns of rotary, found " << rotary;
  if (failed(verifyCompatibleDims({x.getDimSize(0), rotary.getDimSize(0)})))
    return emitOpError("rope_c3: expected a row of rotary for each row of ")
           << x << ", found " << rotary;
  return success();
}
