//===- NormOps.cpp - Normalizations and softmax in double precision -------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

/// Applies `normalize` to each row of the op's operand.
template <typename OpTy>
static LogicalResult
mapRows(OpTy op, Evaluator &evaluator,
        llvm::function_ref<void(MutableArrayRef<double>)> normalize) {
  FloatTensor result = evaluator.getFloats(op.getX());
  for (int64_t row = 0; row < result.getRows(); ++row)
    normalize(result.getRow(row));
  return evaluator.set(op.getResult(), std::move(result));
}

void reference::softmaxInPlace(MutableArrayRef<double> row) {
  // The comparison passes over NaN, which then comes out of the exponential.
  double maximum = -std::numeric_limits<double>::infinity();
  for (double x : row)
    maximum = x > maximum ? x : maximum;
  double sum = 0;
  for (double &x : row) {
    x = std::exp(x - maximum);
    sum += x;
  }
  for (double &x : row)
    x /= sum;
}

LogicalResult reference::evaluate(SoftmaxOp op, Evaluator &evaluator) {
  return mapRows(op, evaluator, softmaxInPlace);
}

LogicalResult reference::evaluate(LayerNormOp op, Evaluator &evaluator) {
  ArrayRef<double> weight = evaluator.getFloats(op.getWeight()).elements;
  ArrayRef<double> bias;
  if (op.getBias())
    bias = evaluator.getFloats(op.getBias()).elements;
  double eps = op.getEps().convertToDouble();
  return mapRows(op, evaluator, [&](MutableArrayRef<double> row) {
    double sum = 0, squares = 0;
    for (double x : row)
      sum += x;
    double mean = sum / row.size();
    for (double x : row)
      squares += (x - mean) * (x - mean);
    double deviation = std::sqrt(squares / row.size() + eps);
    for (auto [n, x] : llvm::enumerate(row))
      x = (x - mean) / deviation * weight[n] + (bias.empty() ? 0 : bias[n]);
  });
}

LogicalResult reference::evaluate(RmsNormOp op, Evaluator &evaluator) {
  ArrayRef<double> weight;
  if (op.getWeight())
    weight = evaluator.getFloats(op.getWeight()).elements;
  double eps = op.getEps().convertToDouble();
  int64_t size = op.getColumnsPerGroup(), groups = op.getGroups();
  return mapRows(op, evaluator, [&](MutableArrayRef<double> row) {
    for (int64_t group = 0; group < groups; ++group) {
      MutableArrayRef<double> columns =
          row.slice(op.getOffset() + group * size, size);
      double squares = 0;
      for (double x : columns)
        squares += x * x;
      double root = std::sqrt(squares / size + eps);
      for (auto [n, x] : llvm::enumerate(columns)) {
        double factor = weight.empty() ? 1 : weight[n];
        x = x / root * (op.getUnitOffset() ? 1 + factor : factor);
      }
    }
  });
}

LogicalResult reference::evaluate(L2NormalizeOp op, Evaluator &evaluator) {
  double eps = op.getEps().convertToDouble();
  return mapRows(op, evaluator, [&](MutableArrayRef<double> row) {
    double squares = 0;
    for (double x : row)
      squares += x * x;
    double length = std::sqrt(squares);
    for (double &x : row)
      x /= length < eps ? eps : length; // a NaN length stays
  });
}
