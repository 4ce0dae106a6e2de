//===- RotaryTest.cpp - Rotary position embedding -------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"
#include "llvm/Support/MathExtras.h"

using namespace hexad;
using namespace hexad::test;

namespace {

std::string listFloats(const std::vector<float> &numbers) {
  std::string text;
  for (float number : numbers) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9e", number);
    text += (text.empty() ? "" : ", ") + std::string(buffer);
  }
  return "array<f32: " + text + ">";
}

class RotaryTest : public KernelTest {
protected:
  std::unique_ptr<KernelJit> compileRotary(const std::vector<float> &inv_freq,
                                           const Floats &table,
                                           const char *factor) {
    return compile(makeFunction(
        "f", "%p: " + indicesType() + ", %t: " + table.type(),
        "hexad_kernel.rotary ins(%p : " + indicesType() + ") outs(%t : " +
            table.type() + ") {inv_freq = " + listFloats(inv_freq) +
            ", attention_factor = " + factor + " : f64}"));
  }
};

/// Cosine and sine of `position · frequency` as docs/ElementaryFunctions.md
/// says, times `factor`.
SineAndCosine rotate(float position, float frequency, float factor) {
  float angle = position * frequency;
  SineAndCosine result =
      sineAndCosine(angle, std::fma(position, frequency, -angle));
  return {result.sine * factor, result.cosine * factor};
}

TEST_P(RotaryTest, Table) {
  for (int64_t n : {1, 6, 15, 16, 17, 32, 40})
    for (bool isScaled : {false, true})
      for (int64_t behind : {0, 16}) {
        std::vector<float> frequencies;
        for (int64_t i = 0; i < n; ++i)
          frequencies.push_back(std::pow(10000.0, -double(i) / n));
        int64_t columns = llvm::alignTo(2 * n, 16) + behind;
        Floats table(7, columns, columns + 16);
        auto jit =
            compileRotary(frequencies, table, isScaled ? "1.138629" : "1.0");
        ASSERT_TRUE(jit);
        Integers positions(1, 7);
        const int32_t numbers[] = {0, 1, 2, 3, 129, 4097, 131071};
        std::copy(std::begin(numbers), std::end(numbers), &positions.at(0, 0));
        fill(table, random, Data::WithNaN);
        Floats expected = table;
        for (int64_t m = 0; m < 7; ++m) {
          for (int64_t i = 0; i < n; ++i) {
            SineAndCosine y =
                rotate(numbers[m], frequencies[i], isScaled ? 1.138629f : 1.0f);
            expected.at(m, i) = y.cosine;
            expected.at(m, n + i) = y.sine;
          }
          for (int64_t c = 2 * n; c < columns; ++c)
            expected.at(m, c) = 0;
        }
        auto positionBuffer = positions.row();
        auto tableBuffer = table.buffer();
        jit->call("f", &positionBuffer, &tableBuffer);
        expectSame(table, expected, "n = " + std::to_string(n));
      }
}

// The bound in docs/ElementaryFunctions.md, and the bits of the scalar code.
TEST_P(RotaryTest, ErrorOfTheAngles) {
  const std::vector<float> frequencies = {
      1.0f,    0.8046875f, 0.79999f, 0.5f,  0.3333333f, 0.1f,  0.0171f, 1e-2f,
      1.3e-3f, 1e-3f,      1e-4f,    3e-5f, 1e-5f,      1e-6f, 1e-7f,   0.0f};
  const int64_t n = frequencies.size();
  struct Range {
    int32_t last;
    double bound;
  };
  for (Range range :
       {Range{4096, 1.0e-7}, Range{1000000, 1.0e-7}, Range{1 << 24, 2.0e-7}}) {
    Integers positions(1, 5000);
    std::uniform_int_distribution<int32_t> any(0, range.last);
    for (int64_t m = 0; m < positions.columns; ++m)
      positions.at(0, m) = any(random);
    positions.at(0, 0) = 0;
    positions.at(0, 1) = range.last;
    Floats table(positions.columns, 2 * n);
    auto jit = compileRotary(frequencies, table, "1.0");
    ASSERT_TRUE(jit);
    auto positionBuffer = positions.row();
    auto tableBuffer = table.buffer();
    jit->call("f", &positionBuffer, &tableBuffer);
    double worst = 0;
    int differences = 0;
    for (int64_t m = 0; m < table.rows; ++m)
      for (int64_t i = 0; i < n; ++i) {
        double angle = double(positions.at(0, m)) * double(frequencies[i]);
        float cosine = table.at(m, i), sine = table.at(m, n + i);
        worst = std::max({worst, std::fabs(cosine - std::cos(angle)),
                          std::fabs(sine - std::sin(angle))});
        SineAndCosine scalar = rotate(positions.at(0, m), frequencies[i], 1.0f);
        differences +=
            !isSame(cosine, scalar.cosine) || !isSame(sine, scalar.sine);
      }
    EXPECT_EQ(differences, 0) << "up to " << range.last;
    EXPECT_LE(worst, range.bound) << "up to " << range.last;
    // A bound that is far too generous tests nothing.
    EXPECT_GT(worst, 0.5 * range.bound) << "up to " << range.last;
  }
}

// Beyond what has meaning there is still no undefined conversion.
TEST_P(RotaryTest, HugeAngles) {
  const std::vector<float> frequencies = {1e30f, 3.0e38f};
  Integers positions(1, 2);
  positions.at(0, 0) = 3;
  positions.at(0, 1) = 0;
  Floats table(2, 16);
  auto jit = compileRotary(frequencies, table, "1.0");
  ASSERT_TRUE(jit);
  auto positionBuffer = positions.row();
  auto tableBuffer = table.buffer();
  jit->call("f", &positionBuffer, &tableBuffer);
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(table.at(1, i), 1.0f);
    EXPECT_EQ(table.at(1, 2 + i), 0.0f);
  }
}

/// Where heads lie in 96 columns, and how many pairs of each are rotated.
struct Heads {
  int64_t offset, heads, headDim, frequencies;
};
constexpr Heads allHeads[] = {{0, 1, 96, 48}, {0, 6, 12, 6},  {0, 3, 32, 16},
                              {5, 4, 20, 3},  {7, 2, 40, 20}, {0, 48, 2, 1},
                              {2, 1, 70, 34}, {0, 2, 47, 23}, {94, 1, 2, 1}};

TEST_P(RotaryTest, Rope) {
  for (const Heads &heads : allHeads)
    for (bool isHalf : {false, true})
      for (bool inPlace : {false, true}) {
        int64_t n = heads.frequencies, rows = 5;
        Floats x(rows, 96, 112), y = x;
        Floats rotary(rows, llvm::alignTo(2 * n, 16) + 16);
        std::string type = x.type();
        std::string text =
            "hexad_kernel.rope ins(%x, %r : " + type + ", " + rotary.type() +
            ") outs(" + (inPlace ? "%x" : "%y") + " : " + type +
            ") {pairing = #hexad.pairing<" + (isHalf ? "half" : "interleaved") +
            ">, heads = " + std::to_string(heads.heads) +
            " : i64, head_dim = " + std::to_string(heads.headDim) +
            " : i64, frequencies = " + std::to_string(n) +
            " : i64, offset = " + std::to_string(heads.offset) + " : i64}";
        auto jit = compile(makeFunction(
            "f", "%x: " + type + ", %r: " + rotary.type() + ", %y: " + type,
            text));
        ASSERT_TRUE(jit);
        for (Data data : allData) {
          for (Floats *matrix : {&x, &y, &rotary})
            fill(*matrix, random, data);
          Floats expected = inPlace ? x : y;
          for (int64_t m = 0; m < rows; ++m) {
            for (int64_t c = 0; c < x.columns; ++c)
              expected.at(m, c) = x.at(m, c);
            for (int64_t h = 0; h < heads.heads; ++h)
              for (int64_t i = 0; i < n; ++i) {
                int64_t head = heads.offset + h * heads.headDim;
                int64_t first = head + (isHalf ? i : 2 * i);
                int64_t second = isHalf ? first + n : first + 1;
                float a = x.at(m, first), b = x.at(m, second);
                float cosine = rotary.at(m, i), sine = rotary.at(m, n + i);
                expected.at(m, first) = std::fma(a, cosine, -(b * sine));
                expected.at(m, second) = std::fma(b, cosine, a * sine);
              }
          }
          auto xBuffer = x.buffer(), yBuffer = y.buffer();
          auto rotaryBuffer = rotary.buffer();
          jit->call("f", &xBuffer, &rotaryBuffer, &yBuffer);
          expectSame(inPlace ? x : y, expected, text);
        }
      }
}

HEXAD_INSTANTIATE_KERNEL_TEST(RotaryTest);

} // namespace
