//===- MathTest.cpp - Elementary functions against double -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"
#include "llvm/ADT/bit.h"
#include <cfloat>
#include <limits>

using namespace hexad;
using namespace hexad::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double sigmoidOf(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// What docs/Spec.md says, in double precision; limits at the infinities.
double exactActivation(Activation kind, double x) {
  if (x == -infinity && kind != Activation::Tanh)
    return 0.0;
  switch (kind) {
  case Activation::Gelu:
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  case Activation::GeluTanh:
    return 0.5 * x *
           (1.0 +
            std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
  case Activation::QuickGelu:
    return x * sigmoidOf(1.702 * x);
  case Activation::Silu:
    return x * sigmoidOf(x);
  case Activation::Relu:
    return x < 0 ? 0 : x;
  case Activation::Tanh:
    return std::tanh(x);
  case Activation::Sigmoid:
    return sigmoidOf(x);
  }
  return NAN;
}

/// The bound that docs/ElementaryFunctions.md states for the error at x.
double allowedError(Activation kind, double x) {
  double exact = std::fabs(exactActivation(kind, x));
  switch (kind) {
  case Activation::Gelu:
    return 2.0e-7 * std::fabs(x);
  case Activation::GeluTanh:
    return 2.5e-7 * std::fabs(x);
  case Activation::QuickGelu:
  case Activation::Silu:
    return 1.5e-7 * std::fabs(x);
  case Activation::Relu:
    return 0;
  case Activation::Tanh:
    return 3.5e-7 * exact;
  case Activation::Sigmoid:
    return 1.2e-7;
  }
  return 0;
}

/// Numbers of all magnitudes and both signs, denser where functions bend.
std::vector<float> sweep() {
  std::vector<float> numbers = {0.0f,    -0.0f,    INFINITY, -INFINITY, NAN,
                                FLT_MAX, -FLT_MAX, FLT_MIN,  -FLT_MIN};
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 40013)
    for (float sign : {1.0f, -1.0f})
      numbers.push_back(sign * llvm::bit_cast<float>(bits));
  for (float x = -20.0f; x <= 20.0f; x += 1.0f / 1024)
    numbers.push_back(x);
  for (float x = -200.0f; x <= 200.0f; x += 1.0f / 32)
    numbers.push_back(x);
  numbers.resize((numbers.size() + 15) / 16 * 16);
  return numbers;
}

class MathTest : public KernelTest {
protected:
  /// Applies the activation op to all numbers, 16 in a row.
  std::vector<float> apply(Activation kind, const std::vector<float> &numbers) {
    Floats rows(numbers.size() / 16, 16);
    std::copy(numbers.begin(), numbers.end(), &rows.at(0, 0));
    auto jit = compile(makeFunction(
        "f", "%x: " + rows.type(),
        "hexad_kernel.activation ins(%x : " + rows.type() +
            ") outs(%x : " + rows.type() + ") {kind = #hexad.activation<" +
            stringifyActivation(kind).str() + ">}"));
    if (!jit)
      return {};
    auto buffer = rows.buffer();
    jit->call("f", &buffer);
    return std::vector<float>(&rows.at(0, 0), &rows.at(0, 0) + numbers.size());
  }

  void check(Activation kind) {
    std::vector<float> numbers = sweep(), results = apply(kind, numbers);
    ASSERT_EQ(results.size(), numbers.size());
    double worst = 0, where = 0;
    int failures = 0;
    for (size_t i = 0; i < numbers.size() && failures < 10; ++i) {
      float x = numbers[i], y = results[i];
      float scalar = activation(kind, x);
      if (!isSame(y, scalar)) {
        ++failures;
        ADD_FAILURE() << "at " << x << ": " << y << ", scalar " << scalar;
      }
      double exact = exactActivation(kind, x);
      if (std::isnan(x) || !std::isfinite(exact)) {
        if (std::isnan(x) ? !std::isnan(y) : y != exact) {
          ++failures;
          ADD_FAILURE() << "at " << x << ": " << y << ", expected " << exact;
        }
        continue;
      }
      double error = std::fabs(y - exact), allowed = allowedError(kind, x);
      // Results too small for a normal number have an absolute error.
      if (!(error <= allowed + FLT_MIN)) {
        ++failures;
        ADD_FAILURE() << "at " << x << ": " << y << ", exact " << exact;
      }
      if (allowed > 0 && std::isfinite(x) && std::fabs(x) > 1e-30 &&
          error / allowed > worst) {
        worst = error / allowed;
        where = x;
      }
    }
    RecordProperty("worst_share_of_the_bound", std::to_string(worst));
    // A bound that is far too generous tests nothing.
    if (kind != Activation::Relu)
      EXPECT_GT(worst, 0.4) << "worst at " << where;
  }
};

TEST_P(MathTest, Gelu) { check(Activation::Gelu); }
TEST_P(MathTest, GeluTanh) { check(Activation::GeluTanh); }
TEST_P(MathTest, QuickGelu) { check(Activation::QuickGelu); }
TEST_P(MathTest, Silu) { check(Activation::Silu); }
TEST_P(MathTest, Relu) { check(Activation::Relu); }
TEST_P(MathTest, Tanh) { check(Activation::Tanh); }
TEST_P(MathTest, Sigmoid) { check(Activation::Sigmoid); }

// The table at the end of docs/ElementaryFunctions.md.
TEST_P(MathTest, Limits) {
  std::vector<float> numbers = {-INFINITY, -FLT_MAX, -200.0f, -0.0f,
                                FLT_MAX,   INFINITY, NAN};
  numbers.resize(16);
  auto check = [&](Activation kind, std::vector<float> expected) {
    std::vector<float> results = apply(kind, numbers);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(isSame(results[i], expected[i]))
          << stringifyActivation(kind).str() << " of " << numbers[i] << " is "
          << results[i] << ", expected " << expected[i];
  };
  check(Activation::Gelu, {0, 0, 0, 0, FLT_MAX, INFINITY, NAN});
  check(Activation::GeluTanh, {0, 0, 0, 0, FLT_MAX, INFINITY, NAN});
  check(Activation::Silu, {-0.0f, -0.0f, -0.0f, -0.0f, FLT_MAX, INFINITY, NAN});
  check(Activation::QuickGelu,
        {-0.0f, -0.0f, -0.0f, -0.0f, FLT_MAX, INFINITY, NAN});
  check(Activation::Relu, {0, 0, 0, -0.0f, FLT_MAX, INFINITY, NAN});
  check(Activation::Tanh, {-1, -1, -1, -0.0f, 1, 1, NAN});
  check(Activation::Sigmoid, {0, 0, 0, 0.5f, 1, 1, NAN});
}

TEST(ScalarReferenceTest, Exp2) {
  double worst = 0;
  for (float x = -126.0f; x < 127.4f; x += 1.0f / 4096)
    worst =
        std::max(worst, std::fabs(test::exp2(x) / std::exp2(double(x)) - 1));
  EXPECT_LT(worst, 2.0e-7);
  EXPECT_GT(worst, 1.0e-7);
  EXPECT_EQ(test::exp2(0.0f), 1.0f);
  EXPECT_EQ(test::exp2(-0.0f), 1.0f);
  EXPECT_EQ(test::exp2(-127.0f), 0.0f);
  EXPECT_EQ(test::exp2(-INFINITY), 0.0f);
  EXPECT_EQ(test::exp2(-FLT_MAX), 0.0f);
  EXPECT_EQ(test::exp2(128.0f), INFINITY);
  EXPECT_TRUE(std::isnan(test::exp2(NAN)));
}

HEXAD_INSTANTIATE_KERNEL_TEST(MathTest);

} // namespace
