//===- FeedForwardOps.cpp - Embedding, linear, elementwise ops in double --===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

LogicalResult reference::evaluate(EmbeddingOp op, Evaluator &evaluator) {
  const IntegerTensor &ids = evaluator.getIntegers(op.getIds());
  const FloatTensor &table = evaluator.getFloats(op.getTable());
  int64_t offset = op.getOffset();
  if (failed(checkSize(op, {ids.getRows(), table.getColumns()})))
    return failure();
  FloatTensor result({ids.getRows(), table.getColumns()});
  for (auto [row, id] : llvm::enumerate(ids.elements)) {
    // The verifier has checked offset against the table; ids have 32 bits.
    int64_t entry = id + offset;
    if (entry < 0 || entry >= table.getRows())
      return op.emitOpError("expected entries from 0 to ")
             << table.getRows() - 1 << ", found " << entry << " in row " << row;
    llvm::copy(table.getRow(entry), result.getRow(row).begin());
  }
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(LinearOp op, Evaluator &evaluator) {
  const FloatTensor &x = evaluator.getFloats(op.getX());
  const FloatTensor &weight = evaluator.getFloats(op.getWeight());
  if (failed(checkSize(op, {x.getRows(), weight.getRows()})))
    return failure();
  FloatTensor result({x.getRows(), weight.getRows()});
  for (int64_t row = 0; row < x.getRows(); ++row) {
    ArrayRef<double> input = x.getRow(row);
    MutableArrayRef<double> output = result.getRow(row);
    for (int64_t n = 0; n < weight.getRows(); ++n) {
      ArrayRef<double> w = weight.getRow(n);
      for (int64_t k = 0; k < x.getColumns(); ++k)
        output[n] += input[k] * w[k];
    }
    if (op.getBias()) {
      ArrayRef<double> bias = evaluator.getFloats(op.getBias()).elements;
      for (int64_t n = 0; n < weight.getRows(); ++n)
        output[n] += bias[n];
    }
  }
  return evaluator.set(op.getResult(), std::move(result));
}

static constexpr double infinity = std::numeric_limits<double>::infinity();

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double activate(Activation kind, double x) {
  using namespace std::numbers;
  switch (kind) {
  case Activation::Gelu:
    // Φ(x) by erfc: accurate where Φ is small, too.
    return x * 0.5 * std::erfc(-x / sqrt2);
  case Activation::GeluTanh:
    // (1 + tanh(z)) / 2 = σ(2z), which does not cancel where z is small.
    return x * sigmoid(2 * std::sqrt(2 / pi) * (x + 0.044715 * x * x * x));
  case Activation::QuickGelu:
    return x * sigmoid(1.702 * x);
  case Activation::Silu:
    return x * sigmoid(x);
  case Activation::Relu:
    return x < 0 ? 0 : x; // NaN stays
  case Activation::Tanh:
    return std::tanh(x);
  case Activation::Sigmoid:
    return sigmoid(x);
  }
  llvm_unreachable("all kinds handled");
}

/// Whether the activation is x times something that goes to 0 at -∞ faster than
/// x grows: its limit there is 0, where the formula gives NaN.
static bool vanishesAtMinusInfinity(Activation kind) {
  return kind == Activation::Gelu || kind == Activation::GeluTanh ||
         kind == Activation::QuickGelu || kind == Activation::Silu;
}

LogicalResult reference::evaluate(ActivationOp op, Evaluator &evaluator) {
  FloatTensor result = evaluator.getFloats(op.getX());
  bool vanishes = vanishesAtMinusInfinity(op.getKind());
  for (double &element : result.elements)
    element =
        vanishes && element == -infinity ? 0 : activate(op.getKind(), element);
  return evaluator.set(op.getResult(), std::move(result));
}

/// Combines the elements of two operands of the same shape.
template <typename OpTy>
static LogicalResult combine(OpTy op, Evaluator &evaluator,
                             llvm::function_ref<double(double, double)> f) {
  const FloatTensor &rhs = evaluator.getFloats(op.getRhs());
  FloatTensor result = evaluator.getFloats(op.getLhs());
  if (failed(checkRows(op, "rhs", rhs.getRows(), result.getRows())))
    return failure();
  for (auto [left, right] : llvm::zip_equal(result.elements, rhs.elements))
    left = f(left, right);
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(AddOp op, Evaluator &evaluator) {
  return combine(op, evaluator, std::plus<double>());
}

LogicalResult reference::evaluate(MultiplyOp op, Evaluator &evaluator) {
  return combine(op, evaluator, std::multiplies<double>());
}

LogicalResult reference::evaluate(ScaleOp op, Evaluator &evaluator) {
  // The factor is f32 in the op's definition.
  double factor = static_cast<float>(op.getFactor().convertToDouble());
  FloatTensor result = evaluator.getFloats(op.getX());
  for (double &element : result.elements)
    element *= factor;
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(ScaleColumnsOp op, Evaluator &evaluator) {
  ArrayRef<double> weight = evaluator.getFloats(op.getWeight()).elements;
  FloatTensor result = evaluator.getFloats(op.getX());
  for (int64_t row = 0; row < result.getRows(); ++row)
    for (auto [element, factor] : llvm::zip_equal(result.getRow(row), weight))
      element *= factor;
  return evaluator.set(op.getResult(), std::move(result));
}

double reference::softcap(double x, double cap) {
  return cap * std::tanh(x / cap);
}

LogicalResult reference::evaluate(SoftcapOp op, Evaluator &evaluator) {
  FloatTensor result = evaluator.getFloats(op.getX());
  for (double &element : result.elements)
    element = softcap(element, op.getCap().convertToDouble());
  return evaluator.set(op.getResult(), std::move(result));
}
