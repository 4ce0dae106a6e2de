//===- NormOps.cpp - Normalizations and softmax of a row ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include <cmath>

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
  if (!(eps >= 0) || std::isinf(eps))
    return emitOpError(
               "layer_norm_c3: expected a finite eps of at least 0, found ")
           << eps;
  return success();
}

LogicalResult L2NormalizeOp::verify() {
  double eps = getEps().convertToDouble();
  if (!(eps >= 0) || std::isinf(eps))
    return emitOpError("l2_normalize_c1: expected a finite eps of at least 0, "
                       "found ")
           << eps;
  return success();
}
