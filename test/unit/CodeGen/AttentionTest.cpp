//===- AttentionTest.cpp - Softmax over pages -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"
#include <cfloat>

using namespace hexad;
using namespace hexad::test;

namespace {

constexpr int64_t tile = 60, paddedTile = 64, pageKeys = 128;

class AttentionTest : public KernelTest {};

std::string softmaxPage(const Floats &scores) {
  // The statistics have six rows: their number is part of the type.
  std::string type = "memref<6x64xf32, strided<[80, 1], offset: ?>>";
  return makeFunction("f",
                      "%rows: index, %keys: index, %scores: " + scores.type() +
                          ", %statistics: " + type,
                      "hexad_kernel.softmax_page ins(%rows, %keys : index, "
                      "index) outs(%scores, %statistics : " +
                          scores.type() + ", " + type + ")");
}

void softmaxPageReference(int64_t rows, int64_t keys, Floats &scores,
                          Floats &statistics) {
  for (int64_t m = 0; m < rows; ++m) {
    auto element = [&](int64_t t) { return scores.at(m, t); };
    float g = reduceRow(keys, -FLT_MAX, -FLT_MAX, element, greater, greater);
    for (int64_t t = 0; t < pageKeys; ++t)
      scores.at(m, t) = t < keys ? test::exp2(scores.at(m, t) - g) : 0.0f;
    statistics.at(2, m) = g;
    statistics.at(3, m) = sumRow(keys, element);
  }
  // Columns behind the last row, up to a whole vector, see an empty page.
  for (int64_t m = 0; m < (rows + 15) / 16 * 16; ++m) {
    float g = m < rows ? statistics.at(2, m) : -FLT_MAX;
    float z = m < rows ? statistics.at(3, m) : 0.0f;
    float old = statistics.at(0, m), n = greater(old, g);
    float a = test::exp2(old - n), b = test::exp2(g - n), page = z * b;
    statistics.at(0, m) = n;
    statistics.at(1, m) = std::fma(statistics.at(1, m), a, page);
    statistics.at(4, m) = a;
    statistics.at(5, m) = b;
  }
}

TEST_P(AttentionTest, SoftmaxPage) {
  Floats scores(tile, pageKeys, pageKeys + 16);
  Floats statistics(6, paddedTile, paddedTile + 16);
  auto jit = compile(softmaxPage(scores));
  ASSERT_TRUE(jit);
  for (Data data : allData)
    for (int64_t rows : {0, 1, 15, 16, 17, 60})
      for (int64_t keys : {0, 1, 15, 16, 17, 60, 127, 128}) {
        fill(scores, random, data);
        fill(statistics, random, Data::Random);
        Floats expectedScores = scores, expectedStatistics = statistics;
        softmaxPageReference(rows, keys, expectedScores, expectedStatistics);
        auto scoresBuffer = scores.buffer(),
             statisticsBuffer = statistics.buffer();
        jit->call("f", rows, keys, &scoresBuffer, &statisticsBuffer);
        std::string what =
            "rows " + std::to_string(rows) + " keys " + std::to_string(keys);
        expectSame(scores, expectedScores, what + " scores");
        expectSame(statistics, expectedStatistics, what + " statistics");
      }
}

/// What rows see, of a page whose first key is `position` keys in front of row
/// 0.
struct Mask {
  bool causal;
  int64_t window; ///< 0: none
  float softcap;  ///< 0: none

  bool sees(int64_t position, int64_t m, int64_t t) const {
    int64_t place = position + m;
    return (!causal || t <= place) && (!window || t > place - window);
  }
};

std::string maskedSoftmaxPage(const Floats &scores, const Mask &mask) {
  std::string type = "memref<6x64xf32, strided<[80, 1], offset: ?>>";
  std::string attributes;
  auto add = [&](const std::string &text) {
    attributes += (attributes.empty() ? "" : ", ") + text;
  };
  if (mask.causal)
    add("causal");
  if (mask.window)
    add("window = " + std::to_string(mask.window) + " : i64");
  if (mask.softcap != 0)
    add("softcap = " + std::to_string(mask.softcap) + " : f64");
  return makeFunction(
      "f",
      "%rows: index, %keys: index, %p: index, %scores: " + scores.type() +
          ", %statistics: " + type,
      "hexad_kernel.softmax_page ins(%rows, %keys : index, "
      "index) position(%p) outs(%scores, %statistics : " +
          scores.type() + ", " + type + ") {" + attributes + "}");
}

/// Keys that a row does not see are as if they were not there: the same bits as
/// of a page where their scores are so low that they weigh nothing. Fails if a
/// bound is off by one or a key is left over from before.
TEST_P(AttentionTest, MaskedKeysAreNotThere) {
  const Mask masks[] = {{true, 0, 0},    {true, 1, 0},  {true, 12, 0},
                        {true, 100, 0},  {false, 9, 0}, {true, 0, 3.0f},
                        {true, 33, 8.0f}};
  for (const Mask &mask : masks) {
    Floats scores(tile, pageKeys), statistics(6, paddedTile, paddedTile + 16);
    auto masked = compile(maskedSoftmaxPage(scores, mask));
    auto plain = compile(softmaxPage(scores));
    ASSERT_TRUE(masked && plain);
    for (int64_t keys : {1, 16, 20, 127, 128})
      for (int64_t position : {-70, -17, -1, 0, 1, 15, 16, 60, 127, 200, 400}) {
        fill(scores, random, Data::Random);
        fill(statistics, random, Data::Random);
        Floats expectedScores = scores, expectedStatistics = statistics;
        for (int64_t m = 0; m < tile; ++m)
          for (int64_t t = 0; t < pageKeys; ++t) {
            float &score = expectedScores.at(m, t);
            if (mask.softcap != 0)
              score = mask.softcap *
                      test::activation(Activation::Tanh,
                                       score * (1.0f / mask.softcap));
            if (t < keys && !mask.sees(position, m, t))
              score = -FLT_MAX;
          }
        auto scoresBuffer = scores.buffer(),
             statisticsBuffer = statistics.buffer();
        masked->call("f", tile, keys, position, &scoresBuffer,
                     &statisticsBuffer);
        scoresBuffer = expectedScores.buffer();
        statisticsBuffer = expectedStatistics.buffer();
        plain->call("f", tile, keys, &scoresBuffer, &statisticsBuffer);
        // A row that sees nothing has no sum, where the plain one has counted
        // its keys.
        for (int64_t m = 0; m < tile; ++m) {
          bool seesSome = false;
          for (int64_t t = 0; t < keys; ++t)
            seesSome |= mask.sees(position, m, t);
          if (seesSome)
            continue;
          for (int64_t t = 0; t < pageKeys; ++t)
            expectedScores.at(m, t) = 0;
          EXPECT_EQ(statistics.at(3, m), 0.0f);
          EXPECT_EQ(statistics.at(4, m), 1.0f);
          for (int64_t row = 0; row < 6; ++row)
            expectedStatistics.at(row, m) = statistics.at(row, m);
        }
        std::string what = "window " + std::to_string(mask.window) + " keys " +
                           std::to_string(keys) + " position " +
                           std::to_string(position);
        expectSame(scores, expectedScores, what + " scores");
        expectSame(statistics, expectedStatistics, what + " statistics");
      }
  }
}

TEST_P(AttentionTest, NaNInAScoreMakesTheSumNaN) {
  Floats scores(tile, pageKeys), statistics(6, paddedTile, paddedTile + 16);
  auto jit = compile(softmaxPage(scores));
  ASSERT_TRUE(jit);
  for (int64_t keys : {5, 16, 40, 128})
    for (int64_t place = 0; place < keys; ++place) {
      fill(scores, random, Data::Random);
      for (int64_t m = 0; m < paddedTile; ++m) {
        statistics.at(0, m) = -FLT_MAX;
        statistics.at(1, m) = 0;
      }
      scores.at(3, place) = NAN;
      auto scoresBuffer = scores.buffer(),
           statisticsBuffer = statistics.buffer();
      // Also when pages without NaN follow.
      for (int page = 0; page < 2; ++page) {
        jit->call("f", tile, keys, &scoresBuffer, &statisticsBuffer);
        EXPECT_TRUE(std::isnan(statistics.at(1, 3))) << keys << " " << place;
        EXPECT_TRUE(page == 1 || std::isnan(scores.at(3, place)));
        EXPECT_FALSE(std::isnan(statistics.at(1, 2)));
        fill(scores, random, Data::Random);
      }
    }
}

TEST_P(AttentionTest, StartPages) {
  Floats statistics(6, paddedTile, 80), output(tile, 48, 64);
  std::string type = "memref<6x64xf32, strided<[80, 1], offset: ?>>";
  auto jit =
      compile(makeFunction("f", "%s: " + type + ", %o: " + output.type(),
                           "hexad_kernel.start_pages outs(%s, %o : " + type +
                               ", " + output.type() + ")"));
  ASSERT_TRUE(jit);
  fill(statistics, random, Data::WithNaN);
  fill(output, random, Data::WithNaN);
  Floats expectedStatistics = statistics, expectedOutput = output;
  for (int64_t m = 0; m < paddedTile; ++m) {
    expectedStatistics.at(0, m) = -FLT_MAX;
    expectedStatistics.at(1, m) = 0;
  }
  for (int64_t m = 0; m < tile; ++m)
    for (int64_t d = 0; d < 48; ++d)
      expectedOutput.at(m, d) = 0;
  auto statisticsBuffer = statistics.buffer(), outputBuffer = output.buffer();
  jit->call("f", &statisticsBuffer, &outputBuffer);
  expectSame(statistics, expectedStatistics, "statistics");
  expectSame(output, expectedOutput, "output");
}

TEST_P(AttentionTest, FinishPages) {
  for (int64_t width : {1, 12, 16, 17, 60, 64}) {
    Floats output(tile, 64), statistics(6, paddedTile, 80);
    Floats actual(0, 2 * width + 5, 2 * width + 8);
    std::string type = "memref<6x64xf32, strided<[80, 1], offset: ?>>";
    auto jit = compile(makeFunction(
        "f",
        "%o: " + output.type() + ", %s: " + type +
            ", %c: index, %y: " + actual.type(),
        "hexad_kernel.finish_pages ins(%o, %s, %c : " + output.type() + ", " +
            type + ", index) outs(%y : " + actual.type() +
            ") {width = " + std::to_string(width) + " : i64}"));
    ASSERT_TRUE(jit);
    int64_t column = width + 3;
    for (int64_t rows : {0, 1, 17, 60})
      for (Data data : allData) {
        Floats actual(rows, 2 * width + 5, 2 * width + 8);
        for (Floats *matrix : {&output, &statistics, &actual})
          fill(*matrix, random, data);
        if (rows > 5)
          statistics.at(1, 5) = 0; // saw nothing
        Floats expected = actual;
        for (int64_t m = 0; m < rows; ++m)
          for (int64_t d = 0; d < width; ++d) {
            float sum = statistics.at(1, m), inverse = 1.0f / sum;
            expected.at(m, column + d) =
                sum == 0 ? 0.0f : (output.at(m, d) + 0.0f) * inverse;
          }
        auto outputBuffer = output.buffer(),
             statisticsBuffer = statistics.buffer(),
             actualBuffer = actual.buffer();
        jit->call("f", &outputBuffer, &statisticsBuffer, column, &actualBuffer);
        expectSame(actual, expected, "width " + std::to_string(width));
      }
  }
}

HEXAD_INSTANTIATE_KERNEL_TEST(AttentionTest);

} // namespace
