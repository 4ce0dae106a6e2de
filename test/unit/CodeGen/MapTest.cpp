//===- MapTest.cpp - Attention probabilities of a page --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"

using namespace hexad;
using namespace hexad::test;

namespace {

constexpr int64_t tile = 60, paddedTile = 64, pageKeys = 128;

class MapTest : public KernelTest {};

struct Mask {
  bool causal;
  int64_t window; ///< 0: none
  float softcap;  ///< 0: none

  bool sees(int64_t position, int64_t m, int64_t t) const {
    int64_t place = position + m;
    return (!causal || t <= place) && (!window || t > place - window);
  }
};

std::string mapPage(const Floats &scores, const Mask &mask) {
  std::string statistics = "memref<6x64xf32>";
  std::string maps = "memref<?xf32, strided<[1], offset: ?>>";
  std::string attributes = mask.causal ? "causal" : "other";
  if (mask.window)
    attributes += ", window = " + std::to_string(mask.window) + " : i64";
  if (mask.softcap != 0)
    attributes += ", softcap = " + std::to_string(mask.softcap) + " : f64";
  return makeFunction(
      "f",
      "%rows: index, %keys: index, %start: index, %stride: index, %p: index, "
      "%scores: " +
          scores.type() + ", %statistics: " + statistics + ", %maps: " + maps,
      "hexad_kernel.map_page ins(%rows, %keys, %start, %stride, %scores, "
      "%statistics : index, index, index, index, " +
          scores.type() + ", " + statistics +
          ") position(%p) outs(%maps : " + maps + ") {" + attributes + "}");
}

/// Every probability to the bit, and nothing beside them.
TEST_P(MapTest, MapPage) {
  const Mask masks[] = {{false, 0, 0}, {true, 0, 0},    {true, 12, 0},
                        {false, 9, 0}, {true, 0, 3.0f}, {true, 33, 8.0f}};
  for (const Mask &mask : masks) {
    Floats scores(tile, pageKeys), statistics(6, paddedTile);
    auto jit = compile(mapPage(scores, mask));
    ASSERT_TRUE(jit);
    for (Data data : {Data::Random, Data::WithInfinities, Data::WithNaN})
      for (int64_t rows : {0, 1, 17})
        for (int64_t keys : {1, 15, 16, 17, 128})
          for (int64_t position : {-70, -1, 0, 15, 127, 200}) {
            const int64_t stride = 131, start = 5;
            Floats maps(1, start + tile * stride);
            fill(scores, random, data);
            fill(maps, random, Data::Random);
            // A sum of 0 in some rows, as if they had seen nothing.
            for (int64_t m = 0; m < tile; ++m) {
              statistics.at(0, m) = float(m) / 8;
              statistics.at(1, m) = m % 7 == 3 ? 0.0f : 0.5f + float(m);
            }
            Floats expected = maps;
            for (int64_t m = 0; m < rows; ++m)
              for (int64_t t = 0; t < keys; ++t) {
                float x = scores.at(m, t), sum = statistics.at(1, m);
                if (mask.softcap != 0)
                  x = mask.softcap *
                      test::activation(Activation::Tanh,
                                       x * (1.0f / mask.softcap));
                float inverse = sum == 0 ? 0.0f : 1.0f / sum;
                float p = test::exp2(x - statistics.at(0, m)) * inverse;
                expected.at(0, start + m * stride + t) =
                    mask.sees(position, m, t) ? p : 0.0f;
              }
            auto scoresBuffer = scores.buffer();
            Buffer<float, 2> statisticsBuffer(
                statistics.storage.data() + Floats::margin, {6, paddedTile});
            auto mapsBuffer = maps.row();
            jit->call("f", rows, keys, start, stride, position, &scoresBuffer,
                      &statisticsBuffer, &mapsBuffer);
            expectSame(maps, expected,
                       "window " + std::to_string(mask.window) + " rows " +
                           std::to_string(rows) + " keys " +
                           std::to_string(keys) + " position " +
                           std::to_string(position));
            if (HasFailure())
              return;
          }
  }
}

TEST_P(MapTest, Clear) {
  std::string maps = "memref<?xf32, strided<[1], offset: ?>>";
  auto jit = compile(makeFunction(
      "f", "%start: index, %count: index, %maps: " + maps,
      "hexad_kernel.clear ins(%start, %count : index, index) outs(%maps : " +
          maps + ")"));
  ASSERT_TRUE(jit);
  for (int64_t start : {0, 3, 16})
    for (int64_t count : {0, 1, 15, 16, 17, 100}) {
      Floats buffer(1, 120);
      fill(buffer, random, Data::WithNaN);
      Floats expected = buffer;
      for (int64_t i = 0; i < count; ++i)
        expected.at(0, start + i) = 0;
      auto row = buffer.row();
      jit->call("f", start, count, &row);
      expectSame(buffer, expected, "count " + std::to_string(count));
    }
}

HEXAD_INSTANTIATE_KERNEL_TEST(MapTest);

} // namespace
