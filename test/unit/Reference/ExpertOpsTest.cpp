//===- ExpertOpsTest.cpp - Routes, experts and clamp in double ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenOps.h"
#include "gmock/gmock.h"

using namespace hexad;
using namespace hexad::reference;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsNan;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

FloatTensor makeRow(std::vector<double> elements) {
  FloatTensor row({1, static_cast<int64_t>(elements.size())});
  row.elements.assign(elements.begin(), elements.end());
  return row;
}

std::vector<double> route(std::vector<double> logits, const std::string &op,
                          int64_t topK) {
  std::string text = llvm::formatv(
      "func.func @f(%x: tensor<?x{0}xf32>) -> tensor<?x{1}xf32> {{\n"
      "  %y = hexad.route {2} : tensor<?x{0}xf32> -> tensor<?x{1}xf32>\n"
      "  return %y : tensor<?x{1}xf32>\n}",
      logits.size(), 2 * topK, op);
  std::optional<FloatTensor> y = call(text, {share(makeRow(logits))});
  EXPECT_TRUE(y) << text;
  return y ? std::vector<double>(y->elements.begin(), y->elements.end())
           : std::vector<double>();
}

TEST(ExpertOps, TiesGoToTheSmallerNumber) {
  EXPECT_THAT(
      route({1, 2, 2, 1}, "softmax %x {top_k = 3 : i64, renormalize}", 3),
      ElementsAre(1, 2, 0, testing::_, testing::_, testing::_));
  double log3 = std::log(3.0);
  EXPECT_THAT(route({0, log3, 0}, "softmax %x {top_k = 2 : i64}", 2),
              ElementsAre(1, 0, testing::DoubleNear(0.6, 1e-15),
                          testing::DoubleNear(0.2, 1e-15)));
  EXPECT_THAT(
      route({0, 0}, "sigmoid %x {top_k = 1 : i64, scaling = 2.5 : f64}", 1),
      ElementsAre(0, DoubleEq(1.25)));
}

TEST(ExpertOps, NaNAndInfinities) {
  const char *softmax = "softmax %x {top_k = 2 : i64, renormalize}";
  const char *sigmoid = "sigmoid %x {top_k = 2 : i64}";
  EXPECT_THAT(route({1, notANumber, 2}, softmax, 2),
              ElementsAre(2, 0, IsNan(), IsNan()));
  EXPECT_THAT(route({1, notANumber, 2}, sigmoid, 2),
              ElementsAre(2, 0, IsNan(), IsNan()));
  EXPECT_THAT(route({notANumber, notANumber, 2}, softmax, 2),
              ElementsAre(2, 0, IsNan(), IsNan()));
  EXPECT_THAT(route({1, infinity, 2}, softmax, 2),
              ElementsAre(1, 2, IsNan(), IsNan()));
  EXPECT_THAT(route({-infinity, -infinity, -infinity}, softmax, 2),
              ElementsAre(0, 1, IsNan(), IsNan()));
  EXPECT_THAT(route({-infinity, 3, -infinity}, softmax, 2),
              ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(route({-infinity, infinity, -infinity}, sigmoid, 2),
              ElementsAre(1, 0, 1, 0));
}

TEST(ExpertOps, Groups) {
  // Sums of groups 0 and 2 are equal: the earlier is open.
  std::vector<double> logits = {0, 3, 2, -2, 3, 0};
  EXPECT_THAT(route(logits,
                    "sigmoid %x {top_k = 2 : i64, groups = 3 : i64, "
                    "top_groups = 1 : i64}",
                    2),
              ElementsAre(1, 0, testing::_, DoubleEq(0.5)));
}

/// Three experts; number e multiplies a row by 10^e.
std::optional<FloatTensor> sumExperts(FloatTensor x, FloatTensor routes) {
  std::string routesType =
      llvm::formatv("tensor<?x{0}xf32>", routes.getColumns());
  std::string text = llvm::formatv(
      "hexad.parameter @one : tensor<3x1x1xf32> from \"m.safetensors\" "
      "[\"a\", \"b\", \"c\"] {{layers = 3 : i64}\n"
      "func.func @f(%x: tensor<?x1xf32>, %r: {0}) -> tensor<?x1xf32> {{\n"
      "  %y = hexad.experts %x, %r count 3 : tensor<?x1xf32>, {0} -> "
      "tensor<?x1xf32> {{\n"
      "  ^bb0(%e: index, %rows: tensor<?x1xf32>):\n"
      "    %w = hexad.load @one[%e] : tensor<1x1xf32>\n"
      "    %z = hexad.linear %rows, %w : tensor<?x1xf32>, tensor<1x1xf32> -> "
      "tensor<?x1xf32>\n"
      "    hexad.yield %z : tensor<?x1xf32>\n  }\n"
      "  return %y : tensor<?x1xf32>\n}",
      routesType);
  // Expert 2 must not be called.
  auto parameters =
      [](ParameterOp,
         std::optional<int64_t> expert) -> mlir::FailureOr<FloatTensor> {
    EXPECT_LT(*expert, 2) << "this expert has no rows";
    return FloatTensor({1, 1}, std::pow(10.0, *expert));
  };
  auto results = callForAll(
      text, {share(std::move(x)), share(std::move(routes))}, parameters);
  if (!results)
    return std::nullopt;
  return results->front();
}

TEST(ExpertOps, ExpertsWithoutRowsAreNotCalled) {
  FloatTensor x({3, 1}), routes({3, 4});
  x.elements.assign({1, 2, 3});
  routes.elements.assign({0, 1, 0.5, 2, 1, 0, 1, 0, notANumber, -4, 1, 1});
  std::optional<FloatTensor> y = sumExperts(x, routes);
  ASSERT_TRUE(y);
  // Numbers that are no expert's count as the nearest one, NaN as 0.
  EXPECT_THAT(y->elements, ElementsAre(20.5, 20, 6));
  y = sumExperts(FloatTensor({0, 1}), FloatTensor({0, 4}));
  ASSERT_TRUE(y);
  EXPECT_THAT(y->shape, ElementsAre(0, 1));
}

TEST(ExpertOps, Clamp) {
  auto clamp = [](const std::string &attributes) {
    return call("func.func @f(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {\n"
                "  %y = hexad.clamp %x {" +
                    attributes +
                    "} : tensor<?x5xf32>\n  return %y : tensor<?x5xf32>\n}",
                {share(makeRow({-infinity, -2, 3, infinity, notANumber}))});
  };
  EXPECT_THAT(clamp("lower = -1.0 : f64")->elements,
              ElementsAre(-1, -1, 3, infinity, IsNan()));
  EXPECT_THAT(clamp("upper = 1.0 : f64")->elements,
              ElementsAre(-infinity, -2, 1, 1, IsNan()));
  // Bounds are rounded to f32.
  EXPECT_THAT(clamp("lower = -0.1 : f64, upper = 0.1 : f64")->elements,
              ElementsAre(-0.1f, -0.1f, 0.1f, 0.1f, IsNan()));
}

} // namespace
