//===- LossOps.cpp - Labels and cross-entropy in double precision ---------===//
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

/// One label for each segment that has rows.
static LogicalResult evaluateOfSegments(LabelsOp op, Evaluator &evaluator) {
  IntegerTensor labels = evaluator.getIntegers(op.getLabels());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  if (failed(checkRows(op, "labels", labels.getRows(),
                       segments.getSegmentCount())))
    return failure();
  for (auto [label, length] : llvm::zip_equal(labels.elements, segments.length))
    if (length == 0)
      label = LabelsOp::ignored;
  return evaluator.set(op.getRows(), std::move(labels));
}

LogicalResult reference::evaluate(LabelsOp op, Evaluator &evaluator) {
  if (op.isOfSegments())
    return evaluateOfSegments(op, evaluator);
  const Segments &segments = evaluator.getSegments(op.getSegments());
  FailureOr<IntegerTensor> packed =
      packRectangle(op, evaluator.getIntegers(op.getLabels()), segments);
  if (failed(packed))
    return failure();
  IntegerTensor &labels = *packed;
  if (op.getShift())
    for (auto [first, length] :
         llvm::zip_equal(segments.first, segments.length)) {
      MutableArrayRef<int64_t> segment =
          MutableArrayRef(labels.elements).slice(first, length);
      if (segment.empty())
        continue;
      llvm::copy(segment.drop_front(), segment.begin());
      segment.back() = LabelsOp::ignored;
    }
  return evaluator.set(op.getRows(), std::move(labels));
}

/// `ln Σ exp(x) - x[label]`; NaN if the row has NaN, +∞ or only −∞.
static double getCrossEntropy(ArrayRef<double> row, int64_t label) {
  // The comparison passes over NaN, which then comes out of the exponential.
  double maximum = -std::numeric_limits<double>::infinity();
  for (double x : row)
    maximum = x > maximum ? x : maximum;
  double sum = 0;
  for (double x : row)
    sum += std::exp(x - maximum);
  return std::log(sum) + (maximum - row[label]);
}

LogicalResult reference::evaluate(CrossEntropyOp op, Evaluator &evaluator) {
  const FloatTensor &logits = evaluator.getFloats(op.getLogits());
  const IntegerTensor &labels = evaluator.getIntegers(op.getLabels());
  if (failed(checkRows(op, "labels", labels.getRows(), logits.getRows())))
    return failure();
  FloatTensor losses({logits.getRows(), 1});
  for (auto [row, label] : llvm::enumerate(labels.elements)) {
    if (label == LabelsOp::ignored)
      continue;
    if (label < 0 || label >= logits.getColumns())
      return op.emitOpError("expected labels from 0 to ")
             << logits.getColumns() - 1 << " or " << LabelsOp::ignored
             << ", found " << label << " in row " << row;
    losses.elements[row] = getCrossEntropy(logits.getRow(row), label);
  }
  return evaluator.set(op.getResult(), std::move(losses));
}

LogicalResult reference::evaluate(MeanLossOp op, Evaluator &evaluator) {
  const FloatTensor &losses = evaluator.getFloats(op.getLosses());
  const IntegerTensor &labels = evaluator.getIntegers(op.getLabels());
  if (failed(checkRows(op, "labels", labels.getRows(), losses.getRows())))
    return failure();
  double sum = 0, count = 0;
  for (auto [loss, label] : llvm::zip_equal(losses.elements, labels.elements)) {
    if (label == LabelsOp::ignored)
      continue;
    sum += loss;
    ++count;
  }
  // Without labels 0/0: NaN.
  return evaluator.set(op.getMean(), FloatTensor({}, sum / count));
}
