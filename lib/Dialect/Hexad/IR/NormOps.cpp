//===- NormOps.cpp - Normalizations and softmax of a row ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatRange.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"

using namespace mlir;
using namespace hexad;

LogicalResult LayerNormOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto weight = cast<RankedTensorType>(getWeight().getType());
  if (x.getDimSize(1) != weight.getDimSize(0))
    return emitOpError("layer_norm_c1: expected a weight of ")
           << x.getDimSize(1) << " elements, found " << weight;
  if (getBias() && getBias().getType() != weight)
    return emitOpError("layer_norm_c2: expected a bias of type ")
           << weight << ", found " << getBias().getType();
  double eps = getEps().convertToDouble();
  if (!(eps >= 0) || !isFiniteInF32(eps))
    return emitOpError(
               "layer_norm_c3: expected a finite eps of at least 0, found ")
           << eps;
  return success();
}

int64_t RmsNormOp::getColumnsPerGroup() {
  int64_t columns = cast<RankedTensorType>(getX().getType()).getDimSize(1);
  return getGroupSize().value_or((columns - getOffset()) / getGroups());
}

LogicalResult RmsNormOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  int64_t columns = x.getDimSize(1), offset = getOffset();
  int64_t groups = getGroups(), size = getGroupSize().value_or(0);
  bool fits = offset >= 0 && offset < columns;
  if (fits && getGroupSize())
    fits = groups <= (columns - offset) / size;
  else if (fits)
    fits = (columns - offset) % groups == 0;
  if (!fits)
    return emitOpError("rms_norm_c1: expected ")
           << groups << " groups of columns from column " << offset
           << " on to lie inside (without group_size: to fill) " << x;
  if (getWeight()) {
    auto weight = cast<RankedTensorType>(getWeight().getType());
    if (weight.getDimSize(0) != getColumnsPerGroup())
      return emitOpError("rms_norm_c2: expected a weight of ")
             << getColumnsPerGroup() << " elements, found " << weight;
  }
  double eps = getEps().convertToDouble();
  if (!(eps >= 0) || !isFiniteInF32(eps))
    return emitOpError(
               "rms_norm_c3: expected a finite eps of at least 0, found ")
           << eps;
  if (getUnitOffset() && !getWeight())
    return emitOpError("rms_norm_c4: expected a weight beside unit_offset");
  return success();
}

LogicalResult L2NormalizeOp::verify() {
  double eps = getEps().convertToDouble();
  if (!(eps >= 0) || !isFiniteInF32(eps))
    return emitOpError("l2_normalize_c1: expected a finite eps of at least 0, "
                       "found ")
           << eps;
  return success();
}
