//===- RowsTest.cpp - Norms, softmax and sums of rows ---------------------===//
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

constexpr int64_t widths[] = {1, 15, 16, 17, 31, 60, 384};
constexpr int64_t rowCount = 5;

std::string unary(const std::string &op, const Floats &rows,
                  const std::string &attributes, bool inPlace) {
  return makeFunction("f", "%x: " + rows.type() + ", %y: " + rows.type(),
                      "hexad_kernel." + op + " ins(%x : " + rows.type() +
                          ") outs(" + (inPlace ? "%x" : "%y") + " : " +
                          rows.type() + ") {" + attributes + "}");
}

/// Runs a unary op apart and in place; `reference` writes its second argument.
template <typename Reference>
void checkUnary(KernelJit &apart, KernelJit &inPlace, Floats x, Floats y,
                const std::string &what, Reference reference) {
  Floats expected = y, xBefore = x;
  reference(x, expected);
  auto xBuffer = x.buffer(), yBuffer = y.buffer();
  apart.call("f", &xBuffer, &yBuffer);
  expectSame(y, expected, what);
  expectSame(x, xBefore, what + ", input");
  Floats expectedInPlace = x;
  reference(xBefore, expectedInPlace);
  inPlace.call("f", &xBuffer, &yBuffer);
  expectSame(x, expectedInPlace, what + ", in place");
}

class RowsTest : public KernelTest {
protected:
  /// Rows of `width` columns, padded, with another 16 columns behind.
  static Floats makeRows(int64_t width) {
    int64_t columns = llvm::alignTo(width, 16);
    return Floats(rowCount, columns, columns + 16);
  }

  /// Checks an op that works on each element, of padding too.
  template <typename Function>
  void checkElementwise(const std::string &op, const std::string &attributes,
                        Function function) {
    Floats rows(rowCount, 48, 64), y = rows;
    auto apart = compile(unary(op, rows, attributes, false));
    auto inPlace = compile(unary(op, rows, attributes, true));
    ASSERT_TRUE(apart && inPlace);
    for (Data data : allData) {
      fill(rows, random, data);
      fill(y, random, data);
      checkUnary(*apart, *inPlace, rows, y, op,
                 [&](const Floats &x, Floats &result) {
                   for (int64_t m = 0; m < x.rows; ++m)
                     for (int64_t c = 0; c < x.columns; ++c)
                       result.at(m, c) = function(x.at(m, c));
                 });
    }
  }

  template <typename Function>
  void checkBinary(const std::string &op, Function function) {
    Floats x(rowCount, 48, 64), y = x, z = x;
    std::string type = x.type();
    auto jit = compile(
        makeFunction("f", "%x: " + type + ", %y: " + type + ", %z: " + type,
                     "hexad_kernel." + op + " ins(%x, %y : " + type + ", " +
                         type + ") outs(%z : " + type + ")"));
    ASSERT_TRUE(jit);
    for (Data data : allData) {
      for (Floats *matrix : {&x, &y, &z})
        fill(*matrix, random, data);
      Floats expected = z, expectedInPlace = x;
      for (int64_t m = 0; m < x.rows; ++m)
        for (int64_t c = 0; c < x.columns; ++c)
          expectedInPlace.at(m, c) = expected.at(m, c) =
              function(x.at(m, c), y.at(m, c));
      auto xBuffer = x.buffer(), yBuffer = y.buffer(), zBuffer = z.buffer();
      jit->call("f", &xBuffer, &yBuffer, &zBuffer);
      expectSame(z, expected, op);
      jit->call("f", &xBuffer, &yBuffer, &xBuffer);
      expectSame(x, expectedInPlace, op + " in place");
    }
  }
};

TEST_P(RowsTest, L2Normalize) {
  for (int64_t width : widths) {
    Floats rows = makeRows(width), y = rows;
    std::string attributes =
        "eps = 1.0e-12 : f64, width = " + std::to_string(width) + " : i64";
    auto apart = compile(unary("l2_normalize", rows, attributes, false));
    auto inPlace = compile(unary("l2_normalize", rows, attributes, true));
    ASSERT_TRUE(apart && inPlace);
    for (Data data : allData) {
      fill(rows, random, data);
      fill(y, random, data);
      for (int64_t c = 0; c < width; ++c)
        rows.at(2, c) = 0; // a row of length 0
      checkUnary(*apart, *inPlace, rows, y, "width " + std::to_string(width),
                 [&](const Floats &x, Floats &result) {
                   for (int64_t m = 0; m < x.rows; ++m) {
                     float length = std::sqrt(sumSquaresOfRow(
                         width, [&](int64_t c) { return x.at(m, c); }));
                     length = length < 1e-12f ? 1e-12f : length;
                     for (int64_t c = 0; c < x.columns; ++c)
                       result.at(m, c) = x.at(m, c) / length;
                   }
                 });
    }
  }
}

TEST_P(RowsTest, Softmax) {
  for (int64_t width : widths) {
    Floats rows = makeRows(width), y = rows;
    std::string attributes = "width = " + std::to_string(width) + " : i64";
    auto apart = compile(unary("softmax", rows, attributes, false));
    auto inPlace = compile(unary("softmax", rows, attributes, true));
    ASSERT_TRUE(apart && inPlace);
    for (Data data : allData) {
      fill(rows, random, data);
      fill(y, random, data);
      checkUnary(*apart, *inPlace, rows, y, "width " + std::to_string(width),
                 [&](const Floats &x, Floats &result) {
                   for (int64_t m = 0; m < x.rows; ++m) {
                     auto element = [&](int64_t c) { return x.at(m, c); };
                     float maximum = reduceRow(width, -INFINITY, -INFINITY,
                                               element, greater, greater);
                     std::vector<float> e(width);
                     for (int64_t c = 0; c < width; ++c)
                       e[c] = test::exp(x.at(m, c) - maximum);
                     float sum = sumRow(width, [&](int64_t c) { return e[c]; });
                     for (int64_t c = 0; c < x.columns; ++c)
                       result.at(m, c) = c < width ? e[c] / sum : 0.0f;
                   }
                 });
    }
  }
}

TEST_P(RowsTest, SoftmaxOfNaNIsNaN) {
  constexpr int64_t width = 40;
  Floats rows = makeRows(width);
  auto jit =
      compile(unary("softmax", rows, "width = 40 : i64", /*inPlace=*/true));
  ASSERT_TRUE(jit);
  for (int64_t place = 0; place < width; ++place) {
    fill(rows, random, Data::Random);
    rows.at(1, place) = NAN;
    auto buffer = rows.buffer();
    jit->call("f", &buffer, &buffer);
    for (int64_t c = 0; c < width; ++c) {
      EXPECT_TRUE(std::isnan(rows.at(1, c))) << place << " " << c;
      EXPECT_FALSE(std::isnan(rows.at(0, c))) << place << " " << c;
    }
  }
}

TEST_P(RowsTest, LayerNorm) {
  constexpr float eps = 1.0e-5f;
  for (int64_t width : widths)
    for (bool hasBias : {false, true})
      for (bool inPlace : {false, true}) {
        Floats x = makeRows(width), y = x;
        Floats weight(1, x.columns), bias(1, x.columns);
        std::string type = x.type(), vector = vectorType(x.columns);
        auto jit = compile(makeFunction(
            "f",
            "%x: " + type + ", %w: " + vector + ", %b: " + vector +
                ", %y: " + type,
            "hexad_kernel.layer_norm ins(%x, %w : " + type + ", " + vector +
                ")" + (hasBias ? " bias(%b : " + vector + ")" : "") + " outs(" +
                (inPlace ? "%x" : "%y") + " : " + type +
                ") {eps = 1.0e-5 : f64, width = " + std::to_string(width) +
                " : i64}"));
        ASSERT_TRUE(jit);
        for (Data data : allData) {
          for (Floats *matrix : {&x, &y, &weight, &bias})
            fill(*matrix, random, data);
          Floats expected = inPlace ? x : y;
          for (int64_t m = 0; m < x.rows; ++m) {
            auto element = [&](int64_t c) { return x.at(m, c); };
            float mean = sumRow(width, element) / float(width);
            float variance =
                sumSquaresOfRow(width,
                                [&](int64_t c) { return x.at(m, c) - mean; }) /
                float(width);
            float inverse = 1.0f / std::sqrt(variance + eps);
            for (int64_t c = 0; c < x.columns; ++c) {
              float normal = (x.at(m, c) - mean) * inverse;
              expected.at(m, c) =
                  hasBias ? std::fma(normal, weight.at(0, c), bias.at(0, c))
                          : normal * weight.at(0, c);
            }
          }
          auto xBuffer = x.buffer(), yBuffer = y.buffer();
          auto weightBuffer = weight.row(), biasBuffer = bias.row();
          jit->call("f", &xBuffer, &weightBuffer, &biasBuffer, &yBuffer);
          expectSame(inPlace ? x : y, expected,
                     "width " + std::to_string(width));
        }
      }
}

/// Where the groups of a norm lie in 96 columns.
struct Groups {
  int64_t offset, groups, size;
};
constexpr Groups allGroups[] = {{0, 1, 96},  {0, 1, 90},  {0, 3, 32},
                                {5, 4, 12},  {0, 96, 1},  {2, 5, 17},
                                {60, 2, 18}, {16, 2, 28}, {95, 1, 1}};

enum class Gain { None, Weight, UnitOffset };

TEST_P(RowsTest, RmsNorm) {
  constexpr float eps = 1.0e-6f;
  for (const Groups &groups : allGroups)
    for (Gain gain : {Gain::None, Gain::Weight, Gain::UnitOffset})
      for (bool inPlace : {false, true}) {
        Floats x(rowCount, 96, 112), y = x;
        Floats weight(1, llvm::alignTo(groups.size, 16));
        std::string type = x.type(), vector = vectorType(weight.columns);
        std::string text =
            "hexad_kernel.rms_norm ins(%x : " + type + ")" +
            (gain == Gain::None ? "" : " weight(%w : " + vector + ")") +
            " outs(" + (inPlace ? "%x" : "%y") + " : " + type +
            ") {eps = 1.0e-6 : f64, offset = " + std::to_string(groups.offset) +
            " : i64, groups = " + std::to_string(groups.groups) +
            " : i64, group_size = " + std::to_string(groups.size) + " : i64" +
            (gain == Gain::UnitOffset ? ", unit_offset}" : "}");
        auto jit = compile(makeFunction(
            "f", "%x: " + type + ", %w: " + vector + ", %y: " + type, text));
        ASSERT_TRUE(jit);
        for (Data data : allData) {
          for (Floats *matrix : {&x, &y, &weight})
            fill(*matrix, random, data);
          Floats expected = inPlace ? x : y;
          for (int64_t m = 0; m < x.rows; ++m) {
            for (int64_t c = 0; c < x.columns; ++c)
              expected.at(m, c) = x.at(m, c);
            for (int64_t group = 0; group < groups.groups; ++group) {
              int64_t first = groups.offset + group * groups.size;
              float squares = sumSquaresOfRow(
                  groups.size, [&](int64_t c) { return x.at(m, first + c); });
              float inverse =
                  1.0f / std::sqrt(squares / float(groups.size) + eps);
              for (int64_t c = 0; c < groups.size; ++c) {
                float normal = x.at(m, first + c) * inverse;
                float w = weight.at(0, c);
                expected.at(m, first + c) = gain == Gain::None ? normal
                                            : gain == Gain::Weight
                                                ? normal * w
                                                : std::fma(normal, w, normal);
              }
            }
          }
          auto xBuffer = x.buffer(), yBuffer = y.buffer();
          auto weightBuffer = weight.row();
          jit->call("f", &xBuffer, &weightBuffer, &yBuffer);
          expectSame(inPlace ? x : y, expected, text);
        }
      }
}

TEST_P(RowsTest, Scale) {
  // Not a number of f32: it is rounded to one.
  const float factor = 7.745966692;
  checkElementwise("scale", "factor = 7.745966692 : f64",
                   [&](float x) { return x * factor; });
}

TEST_P(RowsTest, Softcap) {
  const float cap = 30.0f, inverse = 1.0 / 30.0;
  checkElementwise("softcap", "cap = 30.0 : f64", [&](float x) {
    return cap * activation(Activation::Tanh, x * inverse);
  });
}

TEST_P(RowsTest, Clamp) {
  checkElementwise("clamp", "lower = -0.5 : f64",
                   [](float x) { return x < -0.5f ? -0.5f : x; });
  checkElementwise("clamp", "upper = 0.0 : f64",
                   [](float x) { return x > 0.0f ? 0.0f : x; });
  // Not numbers of f32.
  checkElementwise("clamp", "lower = -0.7 : f64, upper = 0.7 : f64",
                   [](float x) {
                     x = x < -0.7f ? -0.7f : x;
                     return x > 0.7f ? 0.7f : x;
                   });
}

TEST_P(RowsTest, Add) {
  checkBinary("add", [](float x, float y) { return x + y; });
}

TEST_P(RowsTest, Multiply) {
  checkBinary("multiply", [](float x, float y) { return x * y; });
}

HEXAD_INSTANTIATE_KERNEL_TEST(RowsTest);

} // namespace
