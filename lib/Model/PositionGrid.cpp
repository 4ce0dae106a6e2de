//===- PositionGrid.cpp - Learned positions, resized ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/PositionGrid.h"
#include <algorithm>
#include <cmath>

using namespace hexad;

/// Keys' cubic convolution kernel.
static double getKernel(double distance, double a) {
  double d = std::abs(distance);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2)
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

/// Element `index` of an axis of `wanted` elements that was one of `stored`.
static std::vector<PositionGrid::Term> getSum(int64_t index, int64_t stored,
                                              int64_t wanted, bool antialias) {
  double scale = static_cast<double>(stored) / wanted;
  double place = (index + 0.5) * scale - 0.5;
  double stretch = antialias ? std::max(scale, 1.0) : 1.0;
  double a = antialias ? -0.5 : -0.75;
  auto first = static_cast<int64_t>(std::ceil(place - 2 * stretch));
  auto last = static_cast<int64_t>(std::floor(place + 2 * stretch));
  std::vector<PositionGrid::Term> terms;
  double sum = 0;
  for (int64_t i = first; i <= last; ++i) {
    if (antialias && (i < 0 || i >= stored))
      continue;
    double weight = getKernel((place - i) / stretch, a);
    if (weight == 0)
      continue;
    sum += weight;
    int64_t at = std::clamp<int64_t>(i, 0, stored - 1);
    // What lies beyond an end is the end's.
    if (!terms.empty() && terms.back().row == at)
      terms.back().weight += weight;
    else
      terms.push_back({at, weight});
  }
  if (antialias)
    for (PositionGrid::Term &term : terms)
      term.weight /= sum;
  return terms;
}

PositionGrid::PositionGrid(llvm::ArrayRef<int64_t> numbers, bool antialias)
    : kept(numbers[0]), zeros(numbers[1]), height(numbers[2]),
      width(numbers[3]), newHeight(numbers[4]), newWidth(numbers[5]),
      antialias(antialias) {}

std::vector<PositionGrid::Term> PositionGrid::getTerms(int64_t row) const {
  if (row < kept)
    return {{row, 1}};
  row -= kept + zeros;
  if (row < 0)
    return {};
  std::vector<Term> across = getSum(row % newWidth, width, newWidth, antialias);
  std::vector<Term> terms;
  for (const Term &y : getSum(row / newWidth, height, newHeight, antialias))
    for (const Term &x : across)
      terms.push_back({kept + y.row * width + x.row, y.weight * x.weight});
  return terms;
}
