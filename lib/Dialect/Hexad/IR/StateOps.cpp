//===- StateOps.cpp - What a model remembers ------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/Builders.h"
#include <limits>

using namespace mlir;
using namespace hexad;

LogicalResult CacheOp::verify() {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  int64_t kvHeads = getKvHeads(), headDim = getHeadDim();
  if (headDim > most / kvHeads)
    return emitOpError("cache_c1: expected the columns of all heads to fit 31 "
                       "bits, found ")
           << kvHeads << " heads of " << headDim;
  if (getLayerCount() > most)
    return emitOpError("cache_c2: expected layers to fit 31 bits, found ")
           << getLayerCount();
  return success();
}
