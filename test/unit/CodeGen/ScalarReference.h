//===- ScalarReference.h - Kernels in scalar arithmetic ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations that the kernels are defined by, one number at a time, in the
// order of their definition: kernels must agree to the bit.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_CODEGEN_SCALARREFERENCE_H
#define HEXAD_TEST_UNIT_CODEGEN_SCALARREFERENCE_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include <array>

namespace hexad::test {

constexpr int laneCount = 16;
using Lanes = std::array<float, laneCount>;

/// `a > b ? a : b`: b where one of them is NaN.
float greater(float a, float b);
float exp2(float x);
float exp(float x);
float ln(float x);
float activation(Activation kind, float x);
struct SineAndCosine {
  float sine, cosine;
};
/// Of `angle + rest`.
SineAndCosine sineAndCosine(float angle, float rest);

/// Folds lanes by halves.
template <typename Combine> float foldLanes(Lanes lanes, Combine combine) {
  for (int half = laneCount / 2; half >= 1; half /= 2)
    for (int l = 0; l < half; ++l)
      lanes[l] = combine(lanes[l], lanes[l + half]);
  return lanes[0];
}

/// Combines `element(0)`, …, `element(width - 1)` over 16 lanes; lanes behind
/// the end get `absent`.
template <typename Element, typename Step, typename Combine>
float reduceRow(int64_t width, float init, float absent, Element element,
                Step step, Combine combine) {
  Lanes lanes;
  lanes.fill(init);
  for (int64_t c = 0; c < width; c += laneCount)
    for (int l = 0; l < laneCount; ++l)
      lanes[l] = step(lanes[l], c + l < width ? element(c + l) : absent);
  return foldLanes(lanes, combine);
}

template <typename Element> float sumRow(int64_t width, Element element) {
  auto add = [](float x, float y) { return x + y; };
  return reduceRow(width, 0.0f, 0.0f, element, add, add);
}

template <typename Element>
float sumSquaresOfRow(int64_t width, Element element) {
  return reduceRow(
      width, 0.0f, 0.0f, element,
      [](float sum, float x) { return __builtin_fmaf(x, x, sum); },
      [](float x, float y) { return x + y; });
}

} // namespace hexad::test

#endif // HEXAD_TEST_UNIT_CODEGEN_SCALARREFERENCE_H
