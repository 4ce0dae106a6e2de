//===- LossTest.cpp - Logarithm, cross-entropy and its mean ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cfloat>

using namespace hexad;
using namespace hexad::test;

namespace {

/// Where the three numbers of a row's statistics begin.
enum { Maximum = 0, Sum = 16, LabelLogit = 32, StatisticColumns = 48 };

class LossTest : public KernelTest {
protected:
  /// finish_cross_entropy of these statistics.
  std::unique_ptr<KernelJit> compileFinish(const Floats &statistics,
                                           const Floats &losses) {
    return compile(makeFunction(
        "f",
        "%s: " + statistics.type() + ", %l: " + indicesType() +
            ", %y: " + losses.type(),
        "hexad_kernel.finish_cross_entropy ins(%s, %l : " + statistics.type() +
            ", " + indicesType() + ") outs(%y : " + losses.type() + ")"));
  }
};

//===----------------------------------------------------------------------===//
// The logarithm
//===----------------------------------------------------------------------===//

/// Lanes of statistics are equal but here, where each has a sum of its own:
/// with a maximum and a label's logit of 0 the loss is the sum's logarithm.
class LogarithmTest : public LossTest {
protected:
  static constexpr int64_t rowsAtOnce = 4096, atOnce = rowsAtOnce * 16;

  void SetUp() override {
    LossTest::SetUp();
    if (IsSkipped())
      return;
    std::fill(labels.storage.begin(), labels.storage.end(), 0);
    jit = compileFinish(statistics, results);
    ASSERT_TRUE(jit);
  }

  /// Calls `check(x, ln(x))` for each f32 whose bits are from `first` to below
  /// `end`, by steps.
  template <typename Check>
  void forEach(uint32_t first, uint32_t end, uint32_t step, Check check) {
    auto statisticsBuffer = statistics.buffer(), buffer = results.buffer();
    auto labelsBuffer = labels.row();
    for (uint64_t bits = first; bits < end; bits += uint64_t(step) * atOnce) {
      for (int64_t i = 0; i < atOnce; ++i)
        statistics.at(i / 16, Sum + i % 16) = llvm::bit_cast<float>(
            uint32_t(std::min<uint64_t>(bits + uint64_t(step) * i, end - 1)));
      jit->call("f", &statisticsBuffer, &labelsBuffer, &buffer);
      for (int64_t i = 0; i < atOnce; ++i)
        check(statistics.at(i / 16, Sum + i % 16), results.at(i / 16, i % 16));
    }
  }

  /// The largest relative error of such numbers.
  double getWorst(uint32_t first, uint32_t end, uint32_t step) {
    double worst = 0;
    forEach(first, end, step, [&](float x, float y) {
      double exact = std::log(double(x));
      double error = exact == 0 ? std::fabs(y) : std::fabs(y / exact - 1);
      worst = error > worst || std::isnan(error) ? error : worst;
    });
    return worst;
  }

  Floats statistics{rowsAtOnce, StatisticColumns}, results{rowsAtOnce, 16};
  Integers labels{1, rowsAtOnce};
  std::unique_ptr<KernelJit> jit;
};

constexpr uint32_t smallestNormal = 0x00800000, infinityBits = 0x7f800000;

// The bound of docs/ElementaryFunctions.md, for every number from 1/8 to 8.
TEST_P(LogarithmTest, ErrorOfAllNumbersNearOne) {
  double worst = getWorst(llvm::bit_cast<uint32_t>(0.125f),
                          llvm::bit_cast<uint32_t>(8.0f), 1);
  EXPECT_LT(worst, 8.6e-8);
  EXPECT_GT(worst, 8.0e-8);
}

TEST_P(LogarithmTest, ErrorOfAllMagnitudes) {
  EXPECT_LT(getWorst(smallestNormal, infinityBits, 997), 8.6e-8);
}

TEST_P(LogarithmTest, SameAsScalar) {
  int differences = 0;
  forEach(0, UINT32_MAX, 4999, [&](float x, float y) {
    // Whether subnormal numbers are zeros is the caller's mode.
    if (!isSame(y, ln(x)) && ++differences < 5)
      ADD_FAILURE() << "at " << x << ": " << y << ", scalar " << ln(x);
  });
}

TEST_P(LogarithmTest, Limits) {
  auto check = [&](float x, float expected) {
    uint32_t bits = llvm::bit_cast<uint32_t>(x);
    forEach(bits, bits + 1, 1, [&](float, float y) {
      ASSERT_TRUE(isSame(y, expected))
          << "at " << x << ": " << y << ", expected " << expected;
    });
  };
  check(1.0f, 0.0f);
  check(0.0f, -INFINITY);
  check(-0.0f, -INFINITY);
  check(FLT_MIN / 2, -INFINITY);
  check(-FLT_MIN / 2, -INFINITY);
  check(-FLT_MIN, NAN);
  check(-1.0f, NAN);
  check(-INFINITY, NAN);
  check(INFINITY, INFINITY);
  check(NAN, NAN);
}

//===----------------------------------------------------------------------===//
// Tiles of classes
//===----------------------------------------------------------------------===//

constexpr int64_t rowCount = 7;
constexpr int64_t allClasses[] = {1, 15, 16, 17, 97, 511, 512};

/// What cross_entropy_tile does, in scalar arithmetic.
void foldTile(const Floats &logits, const Integers &labels, int64_t first,
              int64_t classes, Floats &statistics) {
  for (int64_t m = 0; m < logits.rows; ++m) {
    int32_t label = labels.at(0, m);
    if (label < 0)
      continue;
    auto logit = [&](int64_t c) { return logits.at(m, c); };
    float maximum =
        reduceRow(classes, -FLT_MAX, -FLT_MAX, logit, greater, greater);
    float sum =
        sumRow(classes, [&](int64_t c) { return exp(logit(c) - maximum); });
    float old = statistics.at(m, Maximum), newest = greater(old, maximum);
    float total = std::fma(statistics.at(m, Sum), exp(old - newest),
                           sum * exp(maximum - newest));
    for (int64_t l = 0; l < 16; ++l) {
      statistics.at(m, Maximum + l) = newest;
      statistics.at(m, Sum + l) = total;
      if (label >= first && label < first + classes)
        statistics.at(m, LabelLogit + l) = logit(label - first);
    }
  }
}

std::string tileOp(const Floats &logits, const Floats &statistics) {
  return "hexad_kernel.cross_entropy_tile ins(%x, %l, %first, %classes : " +
         logits.type() + ", " + indicesType() +
         ", index, index) outs(%s : " + statistics.type() + ")";
}

TEST_P(LossTest, Tiles) {
  for (int64_t classes : allClasses) {
    int64_t columns = llvm::alignTo(classes, 16);
    Floats logits(rowCount, columns, columns + 16);
    Floats statistics(rowCount, StatisticColumns, StatisticColumns + 16);
    auto jit = compile(makeFunction(
        "f",
        "%x: " + logits.type() + ", %l: " + indicesType() +
            ", %first: index, %classes: index, %s: " + statistics.type(),
        tileOp(logits, statistics)));
    auto start =
        compile(makeFunction("f", "%s: " + statistics.type(),
                             "hexad_kernel.start_cross_entropy outs(%s : " +
                                 statistics.type() + ")"));
    ASSERT_TRUE(jit && start);
    for (Data data : allData) {
      // Labels in the first, in the second tile and in none that is seen.
      Integers labels(1, rowCount);
      for (int64_t m = 0; m < rowCount; ++m)
        labels.at(0, m) = m == 2 ? -100 : (m * 131) % (3 * classes);
      labels.at(0, 0) = classes - 1;
      fill(statistics, random, Data::Random);
      Floats expected = statistics;
      for (int64_t m = 0; m < rowCount; ++m)
        for (int64_t l = 0; l < StatisticColumns; ++l)
          expected.at(m, l) = l < Sum ? -FLT_MAX : 0.0f;
      auto buffer = statistics.buffer(), logitsBuffer = logits.buffer();
      auto labelsBuffer = labels.row();
      start->call("f", &buffer);
      expectSame(statistics, expected, "start");
      for (int64_t first : {int64_t(0), classes}) {
        fill(logits, random, data);
        Floats before = logits;
        foldTile(logits, labels, first, classes, expected);
        jit->call("f", &logitsBuffer, &labelsBuffer, first, classes, &buffer);
        expectSame(statistics, expected,
                   std::to_string(classes) + " classes from " +
                       std::to_string(first));
        expectSame(logits, before, "logits");
      }
    }
  }
}

TEST_P(LossTest, Finish) {
  Floats statistics(rowCount, StatisticColumns), losses(rowCount, 32, 48);
  auto jit = compileFinish(statistics, losses);
  ASSERT_TRUE(jit);
  const float sums[rowCount] = {1, 2.5f, 1, 0, NAN, 3e5f, 1};
  Integers labels(1, rowCount);
  Floats expected = losses;
  for (int64_t m = 0; m < rowCount; ++m) {
    labels.at(0, m) = m == 5 ? -100 : 2 * m;
    float maximum = m == 3 ? -FLT_MAX : 3.25f;
    float logit = m == 6 ? -INFINITY : m == 3 ? -INFINITY : -1.5f;
    for (int64_t l = 0; l < 16; ++l) {
      statistics.at(m, Maximum + l) = maximum;
      statistics.at(m, Sum + l) = sums[m];
      statistics.at(m, LabelLogit + l) = logit;
    }
    float loss = m == 5 ? 0 : ln(sums[m]) + (maximum - logit);
    for (int64_t c = 0; c < losses.columns; ++c)
      expected.at(m, c) = loss;
  }
  auto buffer = statistics.buffer(), lossesBuffer = losses.buffer();
  auto labelsBuffer = labels.row();
  jit->call("f", &buffer, &labelsBuffer, &lossesBuffer);
  expectSame(losses, expected, "losses");
}

//===----------------------------------------------------------------------===//
// The mean
//===----------------------------------------------------------------------===//

TEST_P(LossTest, Mean) {
  for (int64_t rows : {0, 1, 2, 1000}) {
    Floats losses(rows, 16), mean(1, 1);
    Integers labels(1, rows);
    auto jit = compile(makeFunction(
        "f",
        "%x: " + losses.type() + ", %l: " + indicesType() +
            ", %y: " + mean.type(),
        "hexad_kernel.mean_loss ins(%x, %l : " + losses.type() + ", " +
            indicesType() + ") outs(%y : " + mean.type() + ")"));
    ASSERT_TRUE(jit);
    for (Data data : {Data::Random, Data::Large, Data::WithNaN}) {
      fill(losses, random, data);
      double sum = 0, count = 0;
      for (int64_t m = 0; m < rows; ++m) {
        labels.at(0, m) = m % 3 == 1 ? -100 : m;
        if (m % 3 == 1)
          continue;
        sum += losses.at(m, 0);
        ++count;
      }
      Floats expected = mean;
      expected.at(0, 0) = float(sum / count);
      auto buffer = losses.buffer(), meanBuffer = mean.buffer();
      auto labelsBuffer = labels.row();
      jit->call("f", &buffer, &labelsBuffer, &meanBuffer);
      expectSame(mean, expected, std::to_string(rows) + " rows");
    }
  }
}

HEXAD_INSTANTIATE_KERNEL_TEST(LogarithmTest);
HEXAD_INSTANTIATE_KERNEL_TEST(LossTest);

} // namespace
