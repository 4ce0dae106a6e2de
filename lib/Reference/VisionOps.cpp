//===- VisionOps.cpp - From images to rows in double ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

LogicalResult reference::evaluate(ImageSegmentsOp op, Evaluator &evaluator) {
  int64_t length = op.getLength();
  auto segments = std::make_shared<Segments>();
  segments->batch = evaluator.getFloats(op.getImage()).shape[0];
  segments->seq = length;
  if (failed(checkSize(op, {segments->batch, length})))
    return failure();
  segments->length.assign(segments->batch, length);
  for (int64_t image = 0; image < segments->batch; ++image)
    segments->first.push_back(image * length);
  for (int64_t row = 0; row < segments->batch * length; ++row)
    segments->elementRow.push_back(row);
  return evaluator.set(op.getSegments(),
                       std::shared_ptr<const Segments>(std::move(segments)));
}

LogicalResult reference::evaluate(ElementsOp op, Evaluator &evaluator) {
  const Segments &segments = evaluator.getSegments(op.getSegments());
  IntegerTensor elements({segments.getRows()});
  for (auto [element, row] : llvm::enumerate(segments.elementRow))
    if (row >= 0)
      elements.elements[row] = element;
  return evaluator.set(op.getElements(), std::move(elements));
}

namespace {
/// How images are cut into patches, and which token is which patch.
struct PatchGrid {
  const FloatTensor &images;
  int64_t height, width; ///< of a patch
  int64_t prefix;        ///< tokens in front of the patches

  int64_t getChannels() const { return images.shape[1]; }
  int64_t getPatchesPerRow() const { return images.shape[3] / width; }
  int64_t getTokensPerImage() const {
    return prefix + images.shape[2] / height * getPatchesPerRow();
  }
  int64_t getPixelsPerPatch() const { return getChannels() * height * width; }

  /// The pixels of a patch: channel by channel, row by row.
  std::vector<double> getPatch(int64_t image, int64_t patch) const {
    int64_t top = patch / getPatchesPerRow() * height;
    int64_t left = patch % getPatchesPerRow() * width;
    std::vector<double> pixels;
    for (int64_t channel = 0; channel < getChannels(); ++channel)
      for (int64_t y = top; y < top + height; ++y)
        for (int64_t x = left; x < left + width; ++x)
          pixels.push_back(images.elements[((image * getChannels() + channel) *
                                                images.shape[2] +
                                            y) *
                                               images.shape[3] +
                                           x]);
    return pixels;
  }

  /// That of token `token` of an image: zeros in the prefix.
  std::vector<double> getToken(int64_t image, int64_t token) const {
    if (token < prefix)
      return std::vector<double>(getPixelsPerPatch());
    return getPatch(image, token - prefix);
  }
};
} // namespace

LogicalResult reference::evaluate(PatchifyOp op, Evaluator &evaluator) {
  const Segments &segments = evaluator.getSegments(op.getSegments());
  const FloatTensor &weight = evaluator.getFloats(op.getWeight());
  PatchGrid grid{evaluator.getFloats(op.getImage()), weight.shape[2],
                 weight.shape[3], static_cast<int64_t>(op.getPrefix())};
  int64_t images = grid.images.shape[0], tokens = grid.getTokensPerImage();
  if (segments.batch != images || segments.seq != tokens ||
      segments.getRows() != images * tokens)
    return op.emitOpError("expected segments of ")
           << images << " images of " << tokens << " rows each, found "
           << segments.batch << " of " << segments.seq;
  int64_t filters = weight.shape[0], pixels = grid.getPixelsPerPatch();
  if (failed(checkSize(op, {images * tokens, filters})))
    return failure();
  FloatTensor result({images * tokens, filters});
  for (int64_t row = 0; row < result.getRows(); ++row) {
    std::vector<double> patch = grid.getToken(row / tokens, row % tokens);
    for (int64_t n = 0; n < filters; ++n) {
      double &sum = result.getRow(row)[n];
      for (int64_t k = 0; k < pixels; ++k)
        sum += patch[k] * weight.elements[n * pixels + k];
      if (op.getBias())
        sum += evaluator.getFloats(op.getBias()).elements[n];
    }
  }
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(PatchesOp op, Evaluator &evaluator) {
  const IntegerTensor &elements = evaluator.getIntegers(op.getElements());
  PatchGrid grid{evaluator.getFloats(op.getImage()), op.getPatch()[0],
                 op.getPatch()[1], static_cast<int64_t>(op.getPrefix())};
  int64_t tokens = grid.getTokensPerImage();
  int64_t count = grid.images.shape[0] * tokens;
  if (failed(checkSize(op, {elements.getRows(), grid.getPixelsPerPatch()})))
    return failure();
  FloatTensor result({elements.getRows(), grid.getPixelsPerPatch()});
  for (auto [row, element] : llvm::enumerate(elements.elements)) {
    if (element < 0 || element >= count)
      return op.emitOpError("expected elements from 0 to ")
             << count - 1 << ", found " << element << " in row " << row;
    llvm::copy(grid.getToken(element / tokens, element % tokens),
               result.getRow(row).begin());
  }
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(PrefixRowsOp op, Evaluator &evaluator) {
  const IntegerTensor &positions = evaluator.getIntegers(op.getPositions());
  const FloatTensor &table = evaluator.getFloats(op.getTable());
  FloatTensor result = evaluator.getFloats(op.getX());
  if (failed(checkRows(op, "positions", positions.getRows(), result.getRows())))
    return failure();
  for (auto [row, position] : llvm::enumerate(positions.elements)) {
    if (position < 0)
      return op.emitOpError("expected positions of 0 or more, found ")
             << position << " in row " << row;
    if (position < table.getRows())
      llvm::copy(table.getRow(position), result.getRow(row).begin());
  }
  return evaluator.set(op.getResult(), std::move(result));
}
