//===- AttentionOps.cpp - Attention in double precision -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include <limits>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Σ_d a[d] · b[d]
static double dot(ArrayRef<double> a, ArrayRef<double> b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum += x * y;
  return sum;
}

LogicalResult reference::evaluate(AttentionOp op, Evaluator &evaluator) {
  const FloatTensor &query = evaluator.getFloats(op.getQuery());
  const FloatTensor &key = evaluator.getFloats(op.getKey());
  const FloatTensor &value = evaluator.getFloats(op.getValue());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  if (failed(checkRows(op, "query", query.getRows(), segments.getRows())) ||
      failed(checkRows(op, "key", key.getRows(), segments.getRows())) ||
      failed(checkRows(op, "value", value.getRows(), segments.getRows())))
    return failure();

  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  int64_t headDim = op.getHeadDim();
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0;
  int64_t window = op.getWindow().value_or(0);
  ArrayRef<int64_t> offsets = op.getOffsets();
  if (failed(checkSize(op, {query.getRows(), heads * headDim})))
    return failure();
  FloatTensor result({query.getRows(), heads * headDim});

  for (int64_t segment = 0; segment < segments.getSegmentCount(); ++segment) {
    int64_t first = segments.first[segment];
    int64_t length = segments.length[segment];
    for (int64_t head = 0; head < heads; ++head) {
      int64_t kvHead = head * kvHeads / heads;
      int64_t queryColumn = offsets[0] + head * headDim;
      int64_t keyColumn = offsets[1] + kvHead * headDim;
      int64_t valueColumn = offsets[2] + kvHead * headDim;
      for (int64_t row = first; row < first + length; ++row) {
        ArrayRef<double> q = query.getRow(row).slice(queryColumn, headDim);
        int64_t position = row - first;
        std::vector<double> weights(length, -infinity);
        for (int64_t t = 0; t < length; ++t) {
          if ((op.getCausal() && t > position) ||
              (op.getWindow() && t <= position - window))
            continue; // not seen
          weights[t] =
              scale * dot(q, key.getRow(first + t).slice(keyColumn, headDim));
          if (op.getSoftcap())
            weights[t] = softcap(weights[t], cap);
        }
        if (llvm::all_of(weights, [](double x) { return x == -infinity; }))
          continue; // it sees nothing: zeros
        softmaxInPlace(weights);
        MutableArrayRef<double> out =
            result.getRow(row).slice(head * headDim, headDim);
        for (int64_t t = 0; t < length; ++t) {
          ArrayRef<double> v =
              value.getRow(first + t).slice(valueColumn, headDim);
          for (int64_t d = 0; d < headDim; ++d)
            out[d] += weights[t] * v[d];
        }
      }
    }
  }
  return evaluator.set(op.getResult(), std::move(result));
}
