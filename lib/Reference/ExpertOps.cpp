//===- ExpertOps.cpp - Mixture of experts in double -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

static bool hasNaN(ArrayRef<double> values) {
  return llvm::any_of(values, [](double value) { return std::isnan(value); });
}

/// Numbers of the values but those of NaN: the greatest first, of equal ones
/// the smaller number.
static std::vector<int64_t> sortByValue(ArrayRef<double> values) {
  std::vector<int64_t> numbers(values.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  llvm::erase_if(numbers, [&](int64_t i) { return std::isnan(values[i]); });
  llvm::sort(numbers, [&](int64_t i, int64_t j) {
    return values[i] != values[j] ? values[i] > values[j] : i < j;
  });
  return numbers;
}

/// The groups whose experts can be chosen.
static std::vector<int64_t> chooseGroups(RouteOp op, ArrayRef<double> values) {
  int64_t size = op.getExperts() / static_cast<int64_t>(*op.getGroups());
  std::vector<double> sums;
  for (; !values.empty(); values = values.drop_front(size)) {
    ArrayRef<double> group = values.take_front(size);
    std::vector<int64_t> order = sortByValue(group);
    sums.push_back(0);
    for (size_t i = 0; i < 2; ++i)
      sums.back() += i < order.size() ? group[order[i]] : -infinity;
  }
  std::vector<int64_t> groups = sortByValue(sums);
  groups.resize(std::min<size_t>(groups.size(), *op.getTopGroups()));
  return groups;
}

/// The experts that can be chosen, in the order of choice.
static std::vector<int64_t> orderExperts(RouteOp op, ArrayRef<double> values) {
  std::vector<int64_t> order = sortByValue(values);
  if (!op.getGroups())
    return order;
  int64_t size = op.getExperts() / static_cast<int64_t>(*op.getGroups());
  std::vector<int64_t> groups = chooseGroups(op, values);
  llvm::erase_if(order, [&](int64_t expert) {
    return !llvm::is_contained(groups, expert / size);
  });
  return order;
}

static void routeRow(RouteOp op, ArrayRef<double> logits,
                     ArrayRef<double> selectionBias, ArrayRef<double> scales,
                     MutableArrayRef<double> result) {
  bool isSoftmax = op.getScore() == RouterScore::Softmax;
  std::vector<double> scores = logits;
  if (isSoftmax)
    softmaxInPlace(scores);
  else
    for (double &score : scores)
      score = 1 / (1 + std::exp(-score));
  // Logits rather than their softmax: two that differ may have one softmax.
  std::vector<double> values = isSoftmax ? logits.vec() : scores;
  for (auto [value, bias] : llvm::zip(values, selectionBias))
    value += bias;

  bool isKnown = !hasNaN(values) && !hasNaN(scores);
  std::vector<int64_t> order = orderExperts(op, values);
  int64_t topK = static_cast<int64_t>(op.getTopK());
  MutableArrayRef<double> weights = result.drop_front(topK);
  double sum = 0;
  for (int64_t rank = 0; rank < topK; ++rank) {
    bool isFound = rank < static_cast<int64_t>(order.size());
    int64_t expert = isFound ? order[rank] : 0;
    result[rank] = expert;
    weights[rank] = isFound && isKnown ? scores[expert] : notANumber;
    sum += weights[rank];
  }
  // Scaling is f32 in the op's definition.
  double scaling = static_cast<float>(op.getScaling().convertToDouble());
  for (int64_t rank = 0; rank < topK; ++rank) {
    if (op.getRenormalize())
      weights[rank] /= sum;
    weights[rank] *= scaling;
    if (!scales.empty())
      weights[rank] *= scales[static_cast<int64_t>(result[rank])];
  }
}

LogicalResult reference::evaluate(RouteOp op, Evaluator &evaluator) {
  const FloatTensor &logits = evaluator.getFloats(op.getLogits());
  int64_t columns = 2 * static_cast<int64_t>(op.getTopK());
  if (failed(checkSize(op, {logits.getRows(), columns})))
    return failure();
  FloatTensor result({logits.getRows(), columns});
  auto getVector = [&](Value vector) {
    return vector ? ArrayRef<double>(evaluator.getFloats(vector).elements)
                  : ArrayRef<double>();
  };
  for (int64_t row = 0; row < logits.getRows(); ++row)
    routeRow(op, logits.getRow(row), getVector(op.getSelectionBias()),
             getVector(op.getScales()), result.getRow(row));
  return evaluator.set(op.getResult(), std::move(result));
}

/// The nearest expert to a number in a route; 0 for NaN.
static int64_t toExpert(double number, int64_t count) {
  return std::isnan(number)
             ? 0
             : std::clamp<double>(number, 0, static_cast<double>(count - 1));
}

LogicalResult reference::evaluate(ExpertsOp op, Evaluator &evaluator) {
  const FloatTensor &x = evaluator.getFloats(op.getX());
  const FloatTensor &routes = evaluator.getFloats(op.getRoutes());
  if (failed(checkRows(op, "routes", routes.getRows(), x.getRows())))
    return failure();
  int64_t topK = routes.getColumns() / 2, count = op.getCount();
  int64_t columns = op.getResult().getType().getDimSize(1);
  // parts[row · topK + rank] is what the expert of that rank makes of the row.
  if (failed(checkSize(op, {x.getRows() * topK, columns})))
    return failure();
  FloatTensor parts({x.getRows() * topK, columns});
  std::vector<SmallVector<int64_t>> pairs(count);
  for (int64_t row = 0; row < x.getRows(); ++row)
    for (int64_t rank = 0; rank < topK; ++rank)
      pairs[toExpert(routes.getRow(row)[rank], count)].push_back(row * topK +
                                                                 rank);
  for (int64_t expert = 0; expert < count; ++expert) {
    if (pairs[expert].empty())
      continue;
    FloatTensor rows(
        {static_cast<int64_t>(pairs[expert].size()), x.getColumns()});
    for (auto [i, pair] : llvm::enumerate(pairs[expert]))
      llvm::copy(x.getRow(pair / topK), rows.getRow(i).begin());
    FailureOr<std::vector<RuntimeValue>> results = evaluator.run(
        op.getBody().front(),
        {expert, std::make_shared<const FloatTensor>(std::move(rows))});
    if (failed(results))
      return failure();
    auto &part = std::get<std::shared_ptr<const FloatTensor>>(results->front());
    if (failed(checkRows(op, "an expert's result", part->getRows(),
                         pairs[expert].size())))
      return failure();
    for (auto [i, pair] : llvm::enumerate(pairs[expert]))
      llvm::copy(part->getRow(i), parts.getRow(pair).begin());
  }

  FloatTensor result({x.getRows(), columns});
  for (int64_t row = 0; row < x.getRows(); ++row)
    for (int64_t rank = 0; rank < topK; ++rank)
      for (auto [sum, part] :
           llvm::zip_equal(result.getRow(row), parts.getRow(row * topK + rank)))
        sum = std::fma(routes.getRow(row)[topK + rank], part, sum);
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(ClampOp op, Evaluator &evaluator) {
  FloatTensor result = evaluator.getFloats(op.getX());
  // Bounds are f32 in the op's definition.
  auto getBound = [](std::optional<APFloat> bound, double absent) {
    return bound ? static_cast<float>(bound->convertToDouble()) : absent;
  };
  double lower = getBound(op.getLower(), -infinity);
  double upper = getBound(op.getUpper(), infinity);
  for (double &element : result.elements) {
    element = element < lower ? lower : element; // NaN stays
    element = element > upper ? upper : element;
  }
  return evaluator.set(op.getResult(), std::move(result));
}
