//===- VisionOps.cpp - Verifiers of the kernels of images -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace hexad::kernel;

LogicalResult GatherPatchesOp::verify() {
  ArrayRef<int64_t> images = cast<ShapedType>(getImages().getType()).getShape();
  ArrayRef<int64_t> patch = getPatch();
  bool fits = hexad::detail::isImageShape(images) && patch.size() == 2 &&
              llvm::all_of(patch, [](int64_t size) { return size > 0; }) &&
              images[2] % patch[0] == 0 && images[3] % patch[1] == 0;
  int64_t prefix = getPrefix();
  return Constraints(*this)
      .padded("destination", getDestination())
      .require(fits, "gather_patches_c1",
               "expected static images of fewer than 2^31 elements that are "
               "whole patches")
      .atLeast("gather_patches_c2", "columns of destination",
               getSize(getDestination(), 1),
               fits ? images[1] * patch[0] * patch[1] : 0)
      .atLeast("gather_patches_c3", "elements of elements",
               getSize(getElements(), 0), getSize(getDestination(), 0))
      .require(prefix >= 0 && prefix <= INT32_MAX, "gather_patches_c4",
               "expected a prefix from 0 to " + Twine(INT32_MAX) +
                   " rows, found " + Twine(prefix));
}

LogicalResult PrefixRowsOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .atLeast("prefix_rows_c1", "elements of positions",
               getSize(getPositions(), 0), getSize(getDestination(), 0))
      .atLeast("prefix_rows_c2", "columns of table", getSize(getTable(), 1),
               getSize(getDestination(), 1))
      .require(!ShapedType::isDynamic(getSize(getTable(), 0)), "prefix_rows_c3",
               "expected a static number of entries");
}
