//===- HalfFloatsTest.cpp - Rounding to 16 bits ---------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/HalfFloats.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace hexad;

namespace {

float fromBits(uint32_t bits) { return llvm::bit_cast<float>(bits); }

/// What LLVM rounds to.
uint16_t convert(float value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

/// Every exponent, with fractions around those where rounding changes.
template <typename Body> void forEachFloat(Body body) {
  for (uint32_t high = 0; high < 1 << 16; ++high)
    for (uint32_t low : {0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000,
                         0x7fff, 0x8000, 0x8001, 0xf000, 0xffff})
      body(fromBits(high << 16 | low));
}

TEST(HalfFloats, RoundsToNearestEven) {
  forEachFloat([](float value) {
    if (std::isnan(value))
      return;
    ASSERT_EQ(narrowToBF16(value), convert(value, llvm::APFloat::BFloat()))
        << value;
    ASSERT_EQ(narrowToF16(value), convert(value, llvm::APFloat::IEEEhalf()))
        << value;
  });
}

TEST(HalfFloats, NaNStaysNaN) {
  forEachFloat([](float value) {
    ASSERT_EQ(std::isnan(widenBF16(narrowToBF16(value))), std::isnan(value));
    ASSERT_EQ(std::isnan(widenF16(narrowToF16(value))), std::isnan(value));
  });
}

TEST(HalfFloats, WhatWasWidenedComesBack) {
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    ASSERT_EQ(narrowToBF16(widenBF16(bits)), bits);
    ASSERT_EQ(narrowToF16(widenF16(bits)), bits);
  }
}

TEST(HalfFloats, Limits) {
  EXPECT_EQ(widenF16(narrowToF16(65519.0f)), 65504.0f);
  EXPECT_EQ(widenF16(narrowToF16(65520.0f)), INFINITY);
  EXPECT_EQ(widenF16(narrowToF16(-1e6f)), -INFINITY);
  EXPECT_EQ(widenF16(narrowToF16(0x1p-24f)), 0x1p-24f);
  EXPECT_EQ(widenF16(narrowToF16(0x1p-25f)), 0.0f);
  EXPECT_EQ(widenBF16(narrowToBF16(fromBits(0x7f7f7fff))),
            fromBits(0x7f7f0000));
  EXPECT_EQ(widenBF16(narrowToBF16(fromBits(0x7f7f8000))), INFINITY);
}

} // namespace
