//===- ExpertsTest.cpp - Routing rows to experts --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace hexad;
using namespace hexad::test;

namespace {

class ExpertsTest : public KernelTest {};

/// The attributes of a route.
struct Route {
  int64_t experts, topK;
  bool sigmoid = false, renormalize = false, bias = false, scales = false;
  float scaling = 1;
  int64_t groups = 0, topGroups = 0;

  std::string attributes() const {
    std::string text = "score = #hexad.router_score<" +
                       std::string(sigmoid ? "sigmoid" : "softmax") +
                       ">, experts = " + std::to_string(experts) +
                       " : i64, top_k = " + std::to_string(topK) +
                       " : i64, scaling = " + std::to_string(scaling) +
                       " : f64";
    if (renormalize)
      text += ", renormalize";
    if (groups)
      text += ", groups = " + std::to_string(groups) +
              " : i64, top_groups = " + std::to_string(topGroups) + " : i64";
    return text;
  }
};

/// Numbers below `count` in the order in which they are chosen, without those
/// of NaN.
std::vector<int64_t> sortByValue(int64_t count,
                                 llvm::function_ref<float(int64_t)> value) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  llvm::erase_if(numbers, [&](int64_t i) { return std::isnan(value(i)); });
  llvm::sort(numbers, [&](int64_t i, int64_t j) {
    return value(i) > value(j) || (value(i) == value(j) && i < j);
  });
  return numbers;
}

/// The experts of a row that can be chosen, in order.
std::vector<int64_t> orderExperts(const Route &route,
                                  const std::vector<float> &values) {
  auto value = [&](int64_t i) { return values[i]; };
  if (!route.groups)
    return sortByValue(route.experts, value);
  int64_t size = route.experts / route.groups;
  std::vector<float> sums;
  for (int64_t g = 0; g < route.groups; ++g) {
    auto inGroup = [&](int64_t i) { return values[g * size + i]; };
    std::vector<int64_t> order = sortByValue(size, inGroup);
    float best = order.size() > 0 ? inGroup(order[0]) : -INFINITY;
    float second = order.size() > 1 ? inGroup(order[1]) : -INFINITY;
    sums.push_back(best + second);
  }
  std::vector<int64_t> groups =
      sortByValue(route.groups, [&](int64_t g) { return sums[g]; });
  groups.resize(std::min<int64_t>(groups.size(), route.topGroups));
  std::vector<int64_t> order = sortByValue(route.experts, value);
  llvm::erase_if(
      order, [&](int64_t i) { return !llvm::is_contained(groups, i / size); });
  return order;
}

void routeRow(const Route &route, const Floats &logits, const Floats &bias,
              const Floats &scales, int64_t row, Floats &result) {
  float maximum = reduceRow(
      route.experts, -INFINITY, -INFINITY,
      [&](int64_t i) { return logits.at(row, i); }, greater, greater);
  auto score = [&](float logit) {
    return route.sigmoid ? activation(Activation::Sigmoid, logit)
                         : test::exp(logit - maximum);
  };
  std::vector<float> values;
  for (int64_t i = 0; i < route.experts; ++i) {
    float logit = logits.at(row, i);
    values.push_back(!route.sigmoid ? logit
                     : route.bias   ? score(logit) + bias.at(0, i)
                                    : score(logit));
  }
  float total = sumRow(route.experts,
                       [&](int64_t i) { return score(logits.at(row, i)); });
  bool isKnown = !std::isnan(total) &&
                 llvm::none_of(values, [](float v) { return std::isnan(v); });
  std::vector<int64_t> order = orderExperts(route, values);
  float sum = 0;
  for (int64_t j = 0; j < route.topK; ++j) {
    bool found = j < int64_t(order.size());
    int64_t expert = found ? order[j] : 0;
    result.at(row, j) = expert;
    float chosen = found ? score(logits.at(row, expert)) : NAN;
    result.at(row, route.topK + j) = chosen;
    sum = sum + chosen;
  }
  for (int64_t j = 0; j < route.topK; ++j) {
    float weight = result.at(row, route.topK + j);
    if (route.renormalize)
      weight = weight / sum;
    else if (!route.sigmoid)
      weight = weight / total;
    weight = weight * route.scaling;
    if (route.scales)
      weight = weight * scales.at(0, int64_t(result.at(row, j)));
    result.at(row, route.topK + j) = isKnown ? weight : NAN;
  }
}

/// Logits of every kind: with many ties too.
void fillLogits(Floats &logits, std::mt19937 &random, int kind) {
  if (kind < int(std::size(allData)))
    return fill(logits, random, allData[kind]);
  std::uniform_int_distribution<int> die(0, 2);
  for (float &x : logits.storage)
    x = kind == int(std::size(allData)) ? die(random) : -INFINITY;
}
constexpr int logitKinds = std::size(allData) + 2;

class RouteTest : public KernelTest {
protected:
  void check(const Route &route) {
    int64_t padded = llvm::alignTo(route.experts, 16);
    Floats logits(rows, padded, padded + 16);
    Floats bias(1, padded), scales(1, padded);
    Floats actual(rows, 2 * route.topK, 2 * route.topK + 3);
    std::string type = logits.type(), vector = vectorType(padded);
    std::string text =
        "hexad_kernel.route ins(%x : " + type + ")" +
        (route.bias ? " selection_bias(%b : " + vector + ")" : "") +
        (route.scales ? " scales(%s : " + vector + ")" : "") +
        " outs(%y : " + actual.type() + ") {" + route.attributes() + "}";
    auto jit =
        compile(makeFunction("f",
                             "%x: " + type + ", %b: " + vector +
                                 ", %s: " + vector + ", %y: " + actual.type(),
                             text));
    ASSERT_TRUE(jit);
    for (int kind = 0; kind < logitKinds; ++kind) {
      fillLogits(logits, random, kind);
      fill(bias, random, kind == 2 ? Data::WithInfinities : Data::WithZeros);
      fill(scales, random, Data::Random);
      fill(actual, random, Data::WithNaN);
      Floats expected = actual, before = logits;
      for (int64_t row = 0; row < rows; ++row)
        routeRow(route, logits, bias, scales, row, expected);
      auto x = logits.buffer(), y = actual.buffer();
      auto b = bias.row(), s = scales.row();
      jit->call("f", &x, &b, &s, &y);
      expectSame(actual, expected, text + ", logits " + std::to_string(kind));
      expectSame(logits, before, text + ", input");
    }
  }

  static constexpr int64_t rows = 6;
};

TEST_P(RouteTest, Softmax) {
  for (int64_t experts : {1, 2, 7, 8, 16, 17, 64, 128})
    for (int64_t topK : {1, 2, 3, 4, 8})
      if (topK <= experts)
        for (bool renormalize : {false, true})
          check({.experts = experts, .topK = topK, .renormalize = renormalize});
}

TEST_P(RouteTest, Sigmoid) {
  for (int64_t experts : {1, 2, 7, 8, 16, 17, 64, 128})
    for (int64_t topK : {1, 2, 5, 8})
      if (topK <= experts)
        check({.experts = experts,
               .topK = topK,
               .sigmoid = true,
               .renormalize = topK != 2,
               .bias = topK != 5});
}

TEST_P(RouteTest, Groups) {
  for (auto [experts, groups, topGroups, topK] :
       {std::array<int64_t, 4>{8, 4, 2, 3},
        {8, 2, 1, 4},
        {16, 1, 1, 2},
        {21, 7, 3, 6},
        {40, 2, 2, 8},
        {64, 8, 4, 8},
        {128, 64, 5, 4}})
    for (bool bias : {false, true})
      check({.experts = experts,
             .topK = topK,
             .sigmoid = true,
             .renormalize = true,
             .bias = bias,
             .scaling = 2.5f,
             .groups = groups,
             .topGroups = topGroups});
}

TEST_P(RouteTest, ManyRanks) {
  check({.experts = 40, .topK = 33});
  check({.experts = 20, .topK = 20, .sigmoid = true, .renormalize = true});
}

TEST_P(RouteTest, ScalingAndScales) {
  for (bool sigmoid : {false, true})
    check({.experts = 17,
           .topK = 4,
           .sigmoid = sigmoid,
           .renormalize = true,
           .scales = true,
           .scaling = 1.5f});
}

/// What a matrix of chosen experts' numbers is filled with.
enum class Choice { Random, AllToOne, Invalid };

void fillRoutes(Floats &routes, std::mt19937 &random, int64_t experts,
                int64_t topK, Choice choice) {
  fill(routes, random, Data::Random);
  std::uniform_int_distribution<int> expert(0, experts - 1);
  const float invalid[] = {NAN,  -1.0f, INFINITY,      -INFINITY,
                           1e9f, -1e9f, float(experts)};
  for (int64_t row = 0; row < routes.rows; ++row)
    for (int64_t j = 0; j < topK; ++j)
      routes.at(row, j) = choice == Choice::AllToOne ? experts - 1
                          : choice == Choice::Invalid
                              ? invalid[(row * topK + j) % std::size(invalid)]
                              : expert(random);
}

TEST_P(ExpertsTest, GroupRows) {
  for (int64_t experts : {1, 2, 7, 16, 128})
    for (int64_t topK : {1, 2, 8}) {
      std::string indices = indicesType(), count = std::to_string(experts + 1);
      std::string bounds = "memref<" + count + "xi32, strided<[1], offset: ?>>";
      Floats routes(40, 2 * topK, 2 * topK + 5);
      auto jit = compile(makeFunction(
          "f",
          "%n: index, %r: " + routes.type() + ", %p: " + indices +
              ", %o: " + indices + ", %b: " + bounds + ", %a: " + bounds,
          "hexad_kernel.group_rows ins(%n, %r : index, " + routes.type() +
              ") outs(%p, %o, %b, %a : " + indices + ", " + indices + ", " +
              bounds + ", " + bounds +
              ") {experts = " + std::to_string(experts) +
              " : i64, top_k = " + std::to_string(topK) + " : i64}"));
      ASSERT_TRUE(jit);
      for (int64_t rows : {0, 1, 5, 40})
        for (Choice choice :
             {Choice::Random, Choice::AllToOne, Choice::Invalid}) {
          SCOPED_TRACE(testing::Message() << experts << " " << topK << " "
                                          << rows << " " << int(choice));
          fillRoutes(routes, random, experts, topK, choice);
          Integers places(1, 40 * topK, 40 * topK, 99), order = places;
          Integers boundsFound(1, experts + 1, experts + 1, 99);
          Integers active = boundsFound;
          Integers expectedPlaces = places, expectedOrder = order;
          Integers expectedBounds = boundsFound;
          std::vector<int32_t> expectedActive;
          int32_t place = 0;
          for (int64_t e = 0; e < experts; ++e) {
            expectedBounds.at(0, e) = place;
            for (int64_t row = 0; row < rows; ++row)
              for (int64_t j = 0; j < topK; ++j) {
                float number = routes.at(row, j);
                int64_t expert = std::isnan(number) || number < 0 ? 0
                                 : number > experts - 1           ? experts - 1
                                                                  : number;
                if (expert != e)
                  continue;
                expectedPlaces.at(0, row * topK + j) = place;
                expectedOrder.at(0, place++) = row;
              }
            if (place > expectedBounds.at(0, e))
              expectedActive.push_back(e);
          }
          expectedBounds.at(0, experts) = place;
          auto r = routes.buffer();
          auto p = places.row(), o = order.row(), b = boundsFound.row(),
               a = active.row();
          jit->call("f", rows, &r, &p, &o, &b, &a);
          EXPECT_EQ(places.storage, expectedPlaces.storage);
          EXPECT_EQ(order.storage, expectedOrder.storage);
          EXPECT_EQ(boundsFound.storage, expectedBounds.storage);
          ASSERT_EQ(active.at(0, 0), int64_t(expectedActive.size()));
          for (auto [i, expert] : llvm::enumerate(expectedActive))
            EXPECT_EQ(active.at(0, 1 + i), expert);
          for (int64_t i = 0; i < Integers::margin; ++i) {
            EXPECT_EQ(active.storage[i], 99);
            EXPECT_EQ(active.storage[Integers::margin + experts + 1 + i], 99);
          }
        }
    }
}

TEST_P(ExpertsTest, CombineRows) {
  for (int64_t columns : {1, 15, 16, 33, 48, 60})
    for (int64_t topK : {1, 2, 3, 8}) {
      Floats parts(7 * topK, columns + 3, columns + 5);
      Floats routes(7, 2 * topK, 2 * topK + 1);
      Floats actual(7, columns, columns + 2);
      Integers places(1, 7 * topK);
      auto jit = compile(makeFunction(
          "f",
          "%x: " + parts.type() + ", %p: " + indicesType() +
              ", %r: " + routes.type() + ", %y: " + actual.type(),
          "hexad_kernel.combine_rows ins(%x, %p, %r : " + parts.type() + ", " +
              indicesType() + ", " + routes.type() +
              ") outs(%y : " + actual.type() +
              ") {top_k = " + std::to_string(topK) + " : i64}"));
      ASSERT_TRUE(jit);
      for (Data data : allData)
        for (int64_t rows : {0, 1, 7}) {
          for (Floats *matrix : {&parts, &routes, &actual})
            fill(*matrix, random, data);
          std::iota(&places.at(0, 0), &places.at(0, 0) + 7 * topK, 0);
          std::shuffle(&places.at(0, 0), &places.at(0, 0) + 7 * topK, random);
          Floats expected = actual;
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t c = 0; c < columns; ++c) {
              float sum = 0;
              for (int64_t j = 0; j < topK; ++j)
                sum = std::fma(routes.at(row, topK + j),
                               parts.at(places.at(0, row * topK + j), c), sum);
              expected.at(row, c) = sum;
            }
          auto x = parts.buffer(), r = routes.buffer(), y = actual.buffer();
          auto p = places.row();
          r.sizes[0] = y.sizes[0] = rows;
          jit->call("f", &x, &p, &r, &y);
          expectSame(actual, expected, "top " + std::to_string(topK));
        }
    }
}

HEXAD_INSTANTIATE_KERNEL_TEST(RouteTest);
HEXAD_INSTANTIATE_KERNEL_TEST(ExpertsTest);

} // namespace
