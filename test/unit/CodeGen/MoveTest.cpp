//===- MoveTest.cpp - Gathering, packing, pooling rows --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "llvm/Support/MathExtras.h"

using namespace hexad;
using namespace hexad::test;

namespace {

constexpr int64_t widths[] = {1, 12, 15, 16, 17, 33, 60, 64, 80};

class MoveTest : public KernelTest {};

Integers makeIndices(std::initializer_list<int32_t> values) {
  Integers result(1, values.size());
  std::copy(values.begin(), values.end(), &result.at(0, 0));
  return result;
}

TEST_P(MoveTest, GatherIndices) {
  std::string type = indicesType();
  auto jit = compile(
      makeFunction("f", "%s: " + type + ", %w: " + type + ", %d: " + type,
                   "hexad_kernel.gather_indices ins(%s, %w : " + type + ", " +
                       type + ") outs(%d : " + type + ")"));
  ASSERT_TRUE(jit);
  Integers source = makeIndices({10, 11, 12, 13, 14});
  Integers where = makeIndices({4, -1, 0, 2, -7, 2, 3});
  Integers actual(1, 7, 7, /*fill=*/99), expected = actual;
  const int32_t gathered[] = {14, 0, 10, 12, 0, 12, 13};
  std::copy(std::begin(gathered), std::end(gathered), &expected.at(0, 0));
  auto sourceBuffer = source.row(), whereBuffer = where.row(),
       actualBuffer = actual.row();
  jit->call("f", &sourceBuffer, &whereBuffer, &actualBuffer);
  EXPECT_EQ(actual.storage, expected.storage);

  sourceBuffer.aligned = nullptr;
  sourceBuffer.offset = 0;
  jit->call("f", &sourceBuffer, &whereBuffer, &actualBuffer);
  for (int64_t i = 0; i < 7; ++i)
    expected.at(0, i) = 0;
  EXPECT_EQ(actual.storage, expected.storage);
}

TEST_P(MoveTest, GatherRows) {
  for (int64_t width : widths) {
    Floats source(9, width + 3, width + 5), actual(6, width, width + 1);
    std::string indices = indicesType();
    auto jit = compile(makeFunction(
        "f",
        "%s: " + source.type() + ", %w: " + indices + ", %d: " + actual.type(),
        "hexad_kernel.gather_rows ins(%s, %w : " + source.type() + ", " +
            indices + ") outs(%d : " + actual.type() + ") {offset = 2 : i64}"));
    ASSERT_TRUE(jit);
    Integers where = makeIndices({6, -1, 0, 3, 3, -128});
    fill(source, random, Data::WithNaN);
    fill(actual, random, Data::WithNaN);
    Floats expected = actual;
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t c = 0; c < width; ++c)
        expected.at(i, c) =
            where.at(0, i) < 0 ? 0.0f : source.at(where.at(0, i) + 2, c);
    auto sourceBuffer = source.buffer(), actualBuffer = actual.buffer();
    auto whereBuffer = where.row();
    jit->call("f", &sourceBuffer, &whereBuffer, &actualBuffer);
    expectSame(actual, expected, "width " + std::to_string(width));

    actualBuffer.aligned = nullptr;
    jit->call("f", &sourceBuffer, &whereBuffer, &actualBuffer);
  }
}

/// From a table of 16 bits, widened.
TEST_P(MoveTest, GatherNarrowRows) {
  for (std::string element : {"bf16", "f16"})
    for (int64_t width : widths) {
      Floats source(9, width + 3, width + 5), actual(4, width, width + 1);
      std::string type = source.type(element), indices = indicesType();
      auto jit = compile(makeFunction(
          "f", "%s: " + type + ", %w: " + indices + ", %d: " + actual.type(),
          "hexad_kernel.gather_rows ins(%s, %w : " + type + ", " + indices +
              ") outs(%d : " + actual.type() + ") {offset = 2 : i64}"));
      ASSERT_TRUE(jit);
      Integers where = makeIndices({6, -1, 0, 3});
      fill(source, random, Data::WithInfinities);
      fill(actual, random, Data::WithNaN);
      Halves narrowed = narrow(source, element);
      Floats expected = actual;
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t c = 0; c < width; ++c)
          expected.at(i, c) =
              where.at(0, i) < 0 ? 0.0f : source.at(where.at(0, i) + 2, c);
      auto sourceBuffer = narrowed.buffer();
      auto actualBuffer = actual.buffer();
      auto whereBuffer = where.row();
      jit->call("f", &sourceBuffer, &whereBuffer, &actualBuffer);
      expectSame(actual, expected, element + " width " + std::to_string(width));
    }
}

TEST_P(MoveTest, CopyRows) {
  for (int64_t width : widths) {
    Floats source(9, width + 3, width + 5), actual(6, width, width + 1);
    auto jit = compile(
        makeFunction("f", "%s: " + source.type() + ", %d: " + actual.type(),
                     "hexad_kernel.copy_rows ins(%s : " + source.type() +
                         ") outs(%d : " + actual.type() + ")"));
    ASSERT_TRUE(jit);
    fill(source, random, Data::WithNaN);
    fill(actual, random, Data::WithNaN);
    Floats expected = actual;
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t c = 0; c < width; ++c)
        expected.at(i, c) = source.at(i, c);
    auto sourceBuffer = source.buffer(), actualBuffer = actual.buffer();
    jit->call("f", &sourceBuffer, &actualBuffer);
    expectSame(actual, expected, "width " + std::to_string(width));

    actualBuffer.aligned = nullptr;
    jit->call("f", &sourceBuffer, &actualBuffer);
  }
}

TEST_P(MoveTest, MeanRows) {
  for (int64_t width : widths) {
    Floats source(20, width + 3, width + 5), actual(5, width, width + 1);
    std::string indices = indicesType();
    auto jit = compile(makeFunction(
        "f",
        "%s: " + source.type() + ", %b: " + indices + ", %d: " + actual.type(),
        "hexad_kernel.mean_rows ins(%s, %b : " + source.type() + ", " +
            indices + ") outs(%d : " + actual.type() + ")"));
    ASSERT_TRUE(jit);
    Integers bounds = makeIndices({0, 1, 1, 8, 20, 20});
    for (Data data : allData) {
      fill(source, random, data);
      fill(actual, random, data);
      Floats expected = actual;
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t c = 0; c < width; ++c) {
          float sum = 0;
          for (int64_t r = bounds.at(0, i); r < bounds.at(0, i + 1); ++r)
            sum = sum + source.at(r, c);
          int32_t count = bounds.at(0, i + 1) - bounds.at(0, i);
          expected.at(i, c) = count > 0 ? sum / float(count) : 0.0f;
        }
      auto sourceBuffer = source.buffer(), actualBuffer = actual.buffer();
      auto boundsBuffer = bounds.row();
      jit->call("f", &sourceBuffer, &boundsBuffer, &actualBuffer);
      expectSame(actual, expected, "width " + std::to_string(width));
    }
  }
}

TEST_P(MoveTest, LoadQueries) {
  constexpr float scale = 0.41f;
  for (int64_t width : widths) {
    Floats source(7, 2 * width + 5, 2 * width + 8);
    int64_t padded = llvm::alignTo(width, 16);
    Floats actual(12, padded, padded + 16);
    auto jit = compile(makeFunction(
        "f", "%s: " + source.type() + ", %c: index, %d: " + actual.type(),
        "hexad_kernel.load_queries ins(%s, %c : " + source.type() +
            ", index) outs(%d : " + actual.type() +
            ") {scale = 0.41 : f64, width = " + std::to_string(width) +
            " : i64}"));
    ASSERT_TRUE(jit);
    int64_t column = width + 3;
    fill(source, random, Data::WithInfinities);
    fill(actual, random, Data::Random);
    Floats expected = actual;
    for (int64_t m = 0; m < 7; ++m)
      for (int64_t d = 0; d < width; ++d)
        expected.at(m, d) = source.at(m, column + d) * scale;
    auto sourceBuffer = source.buffer(), actualBuffer = actual.buffer();
    jit->call("f", &sourceBuffer, column, &actualBuffer);
    expectSame(actual, expected, "width " + std::to_string(width));
  }
}

/// A page of panels, in storage with guards around it.
struct Page {
  Page(int64_t panels, int64_t depth, int64_t columns)
      : shape{panels, depth, columns}, values(panels * depth, columns) {}

  std::string type(const std::string &element = "f32") const {
    return "memref<" + std::to_string(shape[0]) + "x" +
           std::to_string(shape[1]) + "x" + std::to_string(shape[2]) + "x" +
           element + ", strided<[" + std::to_string(shape[1] * shape[2]) +
           ", " + std::to_string(shape[2]) + ", 1], offset: ?>>";
  }
  Buffer<float, 3> buffer() {
    Buffer<float, 3> result(values.storage.data(), shape);
    result.offset = Floats::margin;
    return result;
  }
  float &at(int64_t panel, int64_t depth, int64_t column) {
    return values.at(panel * shape[1] + depth, column);
  }

  std::array<int64_t, 3> shape;
  Floats values;
};

class PackTest : public MoveTest {
protected:
  template <typename Reference>
  void check(const std::string &op, Page page, int64_t width,
             Reference reference) {
    Floats source(0, 2 * width + 5, 2 * width + 8);
    auto jit = compile(makeFunction(
        "f", "%s: " + source.type() + ", %c: index, %d: " + page.type(),
        "hexad_kernel." + op + " ins(%s, %c : " + source.type() +
            ", index) outs(%d : " + page.type() +
            ") {width = " + std::to_string(width) + " : i64}"));
    ASSERT_TRUE(jit);
    int64_t column = width + 3;
    for (int64_t keys : {0, 1, 15, 16, 17, 60, 127, 128}) {
      Floats rows(keys, source.columns, source.stride);
      fill(rows, random, Data::WithNaN);
      fill(page.values, random, Data::WithNaN);
      Page expected = page;
      reference(rows, column, expected);
      auto rowsBuffer = rows.buffer();
      auto pageBuffer = page.buffer();
      jit->call("f", &rowsBuffer, column, &pageBuffer);
      expectSame(page.values, expected.values,
                 op + " width " + std::to_string(width) + " keys " +
                     std::to_string(keys));
    }
  }
};

TEST_P(PackTest, Keys) {
  for (int64_t panel : {16, 32})
    for (int64_t width : widths)
      check("pack_keys", Page(128 / panel, width, panel), width,
            [&](const Floats &source, int64_t column, Page &page) {
              for (int64_t t = 0; t < 128; ++t)
                for (int64_t d = 0; d < width; ++d)
                  page.at(t / panel, d, t % panel) =
                      t < source.rows ? source.at(t, column + d) : 0.0f;
            });
}

TEST_P(PackTest, Values) {
  for (int64_t panel : {16, 32})
    for (int64_t width : widths)
      check("pack_values", Page(llvm::divideCeil(width, panel), 128, panel),
            width, [&](const Floats &source, int64_t column, Page &page) {
              for (int64_t d = 0; d < page.shape[0] * panel; ++d)
                for (int64_t t = 0; t < 128; ++t)
                  page.at(d / panel, t, d % panel) =
                      t < source.rows && d < width ? source.at(t, column + d)
                                                   : 0.0f;
            });
}

/// A page that is filled piece by piece is the page that was filled at once,
/// whatever the pieces; what is behind them stays.
TEST_P(PackTest, Continued) {
  constexpr int64_t width = 20;
  for (int64_t panel : {16, 32})
    for (bool isKeys : {true, false}) {
      Page page = isKeys ? Page(128 / panel, width, panel)
                         : Page(llvm::divideCeil(width, panel), 128, panel);
      std::string op = isKeys ? "pack_keys" : "pack_values";
      Floats source(0, width + 5, width + 8);
      auto jit = compile(makeFunction(
          "f",
          "%s: " + source.type() + ", %c: index, %k: index, %d: " + page.type(),
          "hexad_kernel." + op + " ins(%s, %c : " + source.type() +
              ", index) start(%k) outs(%d : " + page.type() +
              ") {width = " + std::to_string(width) + " : i64}"));
      ASSERT_TRUE(jit);
      const std::vector<int64_t> cuts[] = {
          {128}, {1, 15, 16, 96}, {5, 40, 3, 1, 70}, {127, 1}, {0, 17, 31, 33}};
      for (const auto &pieces : cuts) {
        fill(page.values, random, Data::WithNaN);
        Page expected = page;
        auto pageBuffer = page.buffer();
        int64_t start = 0;
        for (int64_t keys : pieces) {
          Floats rows(keys, source.columns, source.stride);
          fill(rows, random, Data::Random);
          auto rowsBuffer = rows.buffer();
          jit->call("f", &rowsBuffer, int64_t(3), start, &pageBuffer);
          for (int64_t t = 0; t < keys; ++t)
            for (int64_t d = 0; d < (isKeys ? width : page.shape[0] * panel);
                 ++d) {
              int64_t key = start + t;
              float x = d < width ? rows.at(t, 3 + d) : 0.0f;
              if (isKeys)
                expected.at(key / panel, d, key % panel) = x;
              else
                expected.at(d / panel, key, d % panel) = x;
            }
          start += keys;
        }
        expectSame(page.values, expected.values, op);
      }
    }
}

/// A packed table gives the rows that the table has; padding is zero.
TEST_P(PackTest, GatherPackedRows) {
  for (std::string element : {"f32", "bf16", "f16"})
    for (auto [panel, depth] : {std::pair<int64_t, int64_t>{16, 1},
                                {16, 15},
                                {16, 16},
                                {16, 40},
                                {32, 1},
                                {32, 15},
                                {32, 16},
                                {32, 40}}) {
      Page table(3, depth, panel);
      int64_t padded = llvm::alignTo(depth, 16) + 16;
      Integers where(1, 6);
      Floats actual(6, padded);
      auto jit = compile(makeFunction(
          "f",
          "%t: " + table.type(element) + ", %w: " + indicesType() +
              ", %y: " + actual.type(),
          "hexad_kernel.gather_packed_rows ins(%t, %w : " +
              table.type(element) + ", " + indicesType() +
              ") outs(%y : " + actual.type() + ") {offset = 2 : i64}"));
      ASSERT_TRUE(jit);
      fill(table.values, random, Data::Random);
      fill(actual, random, Data::WithNaN);
      Halves narrowed(0, panel);
      if (element != "f32")
        narrowed = narrow(table.values, element);
      Floats expected = actual;
      const int32_t rows[] = {0,
                              5,
                              -1,
                              int32_t(panel) - 3,
                              int32_t(panel) - 2,
                              int32_t(3 * panel) - 3};
      for (int64_t i = 0; i < 6; ++i) {
        where.at(0, i) = rows[i];
        for (int64_t k = 0; k < padded; ++k) {
          int64_t row = rows[i] + 2;
          expected.at(i, k) = rows[i] < 0 || k >= depth
                                  ? 0.0f
                                  : table.at(row / panel, k, row % panel);
        }
      }
      auto tableBuffer = table.buffer();
      auto whereBuffer = where.row();
      auto actualBuffer = actual.buffer();
      Buffer<uint16_t, 3> narrowBuffer(narrowed.storage.data(), table.shape);
      narrowBuffer.offset = Halves::margin;
      void *tableArgument = &tableBuffer;
      if (element != "f32")
        tableArgument = &narrowBuffer;
      jit->call("f", tableArgument, &whereBuffer, &actualBuffer);
      expectSame(actual, expected, element + " depth " + std::to_string(depth));
    }
}

HEXAD_INSTANTIATE_KERNEL_TEST(MoveTest);
HEXAD_INSTANTIATE_KERNEL_TEST(PackTest);

} // namespace
