//===- SamplingTests.cpp - Which token comes next -------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sampling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace hexad;
using testing::ElementsAre;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// How often each token is drawn.
std::vector<int> draw(const SamplingOptions &options, ArrayRef<float> logits,
                      int times = 20000) {
  Sampler sampler(options, /*row=*/0);
  std::vector<int> counts(logits.size());
  for (int i = 0; i < times; ++i)
    ++counts[sampler.next(logits)];
  return counts;
}

TEST(Sampling, GreedyTakesTheFirstLargest) {
  EXPECT_EQ(1, findLargest({1, 3, 2, 3}));
  EXPECT_EQ(2, findLargest({nan, -inf, -1, nan}));
  EXPECT_EQ(1, findLargest({nan, -inf}));
  EXPECT_EQ(0, findLargest({nan, nan}));
  EXPECT_EQ(0, findLargest({5}));
  Sampler sampler(SamplingOptions(), 0);
  EXPECT_EQ(1, sampler.next({1, 3, 2, 3}));
}

TEST(Sampling, DrawsWithTheProbabilitiesOfSoftmax) {
  for (double temperature : {0.5, 1.0, 3.0}) {
    std::vector<float> logits = {1, 0, -1, 2};
    double total = 0;
    for (float logit : logits)
      total += std::exp(logit / temperature);
    std::vector<int> counts = draw({.temperature = temperature}, logits);
    for (size_t i = 0; i < logits.size(); ++i)
      // Five standard deviations.
      EXPECT_NEAR(std::exp(logits[i] / temperature) / total,
                  counts[i] / 20000.0, 5 * 0.5 / std::sqrt(20000.0))
          << i;
  }
}

TEST(Sampling, TopKKeepsTheMostProbable) {
  std::vector<int> counts =
      draw({.temperature = 10, .topK = 2}, {1, 3, 2, 3, 3});
  // Of equals the first ones.
  EXPECT_EQ(0, counts[0] + counts[2] + counts[4]);
  EXPECT_NEAR(10000, counts[1], 500);
  EXPECT_NEAR(10000, counts[3], 500);
}

TEST(Sampling, TopPKeepsAsFewAsMakeItUp) {
  // Probabilities 1/2, 1/4, 1/8, 1/8.
  std::vector<float> logits = {std::log(0.125f), std::log(0.5f),
                               std::log(0.25f), std::log(0.125f)};
  auto kept = [&](double p) {
    std::vector<int> result;
    std::vector<int> counts = draw({.temperature = 1, .topP = p}, logits);
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i])
        result.push_back(i);
    return result;
  };
  EXPECT_THAT(kept(0), ElementsAre(1));
  EXPECT_THAT(kept(0.49), ElementsAre(1));
  EXPECT_THAT(kept(0.6), ElementsAre(1, 2));
  EXPECT_THAT(kept(0.8), ElementsAre(0, 1, 2));
  EXPECT_THAT(kept(0.99), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(kept(1), ElementsAre(0, 1, 2, 3));
}

/// Of what --top-k left.
TEST(Sampling, TopPComesAfterTopK) {
  std::vector<int> counts =
      draw({.temperature = 1, .topK = 2, .topP = 0.45}, {0, 0, 0, 0});
  EXPECT_THAT(counts, ElementsAre(20000, 0, 0, 0));
}

TEST(Sampling, InfinitiesAndNaN) {
  SamplingOptions options = {.temperature = 1};
  EXPECT_EQ(0, draw(options, {0, -inf, nan, 0})[1]);
  EXPECT_EQ(0, draw(options, {0, -inf, nan, 0})[2]);
  std::vector<int> counts = draw(options, {inf, 0, inf});
  EXPECT_EQ(0, counts[1]);
  EXPECT_NEAR(10000, counts[0], 500);
  EXPECT_NEAR(10000, draw(options, {-inf, -inf})[0], 500);
  EXPECT_EQ(20000, draw(options, {nan, nan})[0]);
  // So cold that all but the largest have no weight.
  EXPECT_EQ(20000, draw({.temperature = 1e-300}, {1, 2, 1})[1]);
}

TEST(Sampling, RowsAndSeedsHaveNumbersOfTheirOwn) {
  std::vector<float> logits(100);
  auto sequence = [&](uint64_t seed, uint32_t row) {
    Sampler sampler({.temperature = 1, .seed = seed}, row);
    std::vector<int32_t> tokens;
    for (int i = 0; i < 20; ++i)
      tokens.push_back(sampler.next(logits));
    return tokens;
  };
  EXPECT_EQ(sequence(3, 1), sequence(3, 1));
  EXPECT_NE(sequence(3, 1), sequence(3, 0));
  EXPECT_NE(sequence(3, 1), sequence(4, 1));
  EXPECT_NE(sequence(3, 0), sequence(3 + (uint64_t(1) << 32), 0));
}

} // namespace
