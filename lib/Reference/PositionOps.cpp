//===- PositionOps.cpp - Rotary position embedding in double precision ----===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include <cmath>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

LogicalResult reference::evaluate(RotaryOp op, Evaluator &evaluator) {
  const IntegerTensor &positions = evaluator.getIntegers(op.getPositions());
  ArrayRef<float> frequencies = op.getInvFreq();
  int64_t n = frequencies.size();
  double factor = op.getAttentionFactor().convertToDouble();
  if (failed(checkSize(op, {positions.getRows(), 2 * n})))
    return failure();
  FloatTensor result({positions.getRows(), 2 * n});
  for (auto [row, position] : llvm::enumerate(positions.elements))
    for (int64_t i = 0; i < n; ++i) {
      double angle = position * static_cast<double>(frequencies[i]);
      result.getRow(row)[i] = factor * std::cos(angle);
      result.getRow(row)[n + i] = factor * std::sin(angle);
    }
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(RopeOp op, Evaluator &evaluator) {
  const FloatTensor &rotary = evaluator.getFloats(op.getRotary());
  FloatTensor result = evaluator.getFloats(op.getX());
  if (failed(checkRows(op, "rotary", rotary.getRows(), result.getRows())))
    return failure();
  int64_t n = rotary.getColumns() / 2, headDim = op.getHeadDim();
  bool isHalf = op.getPairing() == Pairing::Half;
  for (int64_t row = 0; row < result.getRows(); ++row) {
    ArrayRef<double> cosines = rotary.getRow(row).take_front(n);
    ArrayRef<double> sines = rotary.getRow(row).drop_front(n);
    for (int64_t h = 0, heads = op.getHeads(); h < heads; ++h) {
      MutableArrayRef<double> head =
          result.getRow(row).slice(op.getOffset() + h * headDim, headDim);
      for (int64_t i = 0; i < n; ++i) {
        double &a = head[isHalf ? i : 2 * i];
        double &b = head[isHalf ? n + i : 2 * i + 1];
        double first = a * cosines[i] - b * sines[i];
        b = b * cosines[i] + a * sines[i];
        a = first;
      }
    }
  }
  return evaluator.set(op.getResult(), std::move(result));
}
