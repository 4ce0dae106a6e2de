//===- VisionOps.cpp - From images to rows of patches ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad;

bool hexad::detail::isImageShape(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape.drop_front()) {
    if (size <= 0 || llvm::MulOverflow(elements, size, elements) ||
        elements > INT32_MAX)
      return false;
  }
  return true;
}

void ImageSegmentsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSegments(), "segments");
}

void ElementsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getElements(), "elements");
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Fails unless images of `image`'s height and width are whole patches.
static LogicalResult verifyWholePatches(Operation *op, StringRef label,
                                        ArrayRef<int64_t> image, int64_t height,
                                        int64_t width) {
  if (image[2] % height == 0 && image[3] % width == 0)
    return success();
  return op->emitOpError(label)
         << ": expected a height and width of images that are multiples of the "
            "patch's "
         << height << " x " << width << ", found " << image[2] << " x "
         << image[3];
}

/// Fails unless a number of rows can be counted in 32 bits.
static LogicalResult verifyPrefix(Operation *op, StringRef label,
                                  int64_t prefix) {
  if (prefix >= 0 && prefix <= INT32_MAX)
    return success();
  return op->emitOpError(label) << ": expected a prefix from 0 to " << INT32_MAX
                                << " rows, found " << prefix;
}

int64_t PatchifyOp::getTokensPerImage() {
  ArrayRef<int64_t> image = getShape(getImage()),
                    weight = getShape(getWeight());
  return static_cast<int64_t>(getPrefix()) +
         image[2] / weight[2] * (image[3] / weight[3]);
}

LogicalResult PatchifyOp::verify() {
  ArrayRef<int64_t> image = getShape(getImage()),
                    weight = getShape(getWeight());
  if (weight[1] != image[1])
    return emitOpError("patchify_c1: expected a weight of ")
           << image[1] << " channels, found " << getWeight().getType();
  if (failed(verifyWholePatches(*this, "patchify_c2", image, weight[2],
                                weight[3])))
    return failure();
  if (failed(verifyPrefix(*this, "patchify_c5", getPrefix())))
    return failure();
  ArrayRef<int64_t> result = getShape(getResult());
  bool isStatic =
      !ShapedType::isDynamic(image[0]) && !ShapedType::isDynamic(result[0]);
  int64_t rows;
  if (result[1] != weight[0] ||
      (isStatic && (llvm::MulOverflow(image[0], getTokensPerImage(), rows) ||
                    result[0] != rows)))
    return emitOpError("patchify_c3: expected ")
           << getTokensPerImage() << " rows of " << weight[0]
           << " columns for each image, found " << getResult().getType();
  if (getBias() && getShape(getBias())[0] != weight[0])
    return emitOpError("patchify_c4: expected a bias of ")
           << weight[0] << " elements, found " << getBias().getType();
  return success();
}

LogicalResult PatchesOp::verify() {
  ArrayRef<int64_t> patch = getPatch(), image = getShape(getImage());
  if (patch.size() != 2 || patch[0] <= 0 || patch[1] <= 0)
    return emitOpError("patches_c1: expected the height and width of a patch, "
                       "found ")
           << getPatchAttr();
  if (failed(
          verifyWholePatches(*this, "patches_c2", image, patch[0], patch[1])))
    return failure();
  int64_t pixels = image[1] * patch[0] * patch[1];
  ArrayRef<int64_t> result = getShape(getResult());
  if (result[1] != pixels || failed(verifyCompatibleShape(
                                 getShape(getElements()), result.drop_back())))
    return emitOpError("patches_c3: expected a row of ")
           << pixels << " columns for each element of "
           << getElements().getType() << ", found " << getResult().getType();
  return verifyPrefix(*this, "patches_c4", getPrefix());
}

unsigned PrefixRowsOp::getNumRowOperands() { return 2; }

LogicalResult PrefixRowsOp::verify() {
  ArrayRef<int64_t> x = getShape(getX()), table = getShape(getTable());
  if (table[1] != x[1])
    return emitOpError("prefix_rows_c1: expected a table of ")
           << x[1] << " columns, found " << getTable().getType();
  if (failed(verifyCompatibleShape(getShape(getPositions()), x.drop_back())))
    return emitOpError("prefix_rows_c2: expected a position for each row of ")
           << getX().getType() << ", found " << getPositions().getType();
  return success();
}
