//===- ShapeTests.cpp - Shapes that cross the borders of tiles ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"

using namespace hexad::test;

namespace {

/// Lengths around a register tile (12), a query tile (60), a page (128), and
/// mixtures of them.
std::vector<Call> getCalls() {
  Call empty;
  empty.rows = {{1, 0}};
  empty.seq = 3;
  return {Call::of({1}),      Call::of({7, 3, 1}).padLeft(),
          Call::of({12}),     Call::of({60, 0, 61, 13, 1}),
          Call::of({129, 5}), empty};
}

struct NamedShape {
  const char *name;
  EncoderShape shape;
};

class Shapes : public testing::TestWithParam<NamedShape> {};

TEST_P(Shapes, Right) {
  expectRight(getEncoderText(GetParam().shape), getCalls());
}

EncoderShape make(int64_t hidden, int64_t heads, int64_t kvHeads,
                  int64_t headDim, int64_t feedForward, int64_t layers = 1,
                  const char *activation = "gelu", bool preNorm = false,
                  bool bias = true) {
  EncoderShape shape;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.kvHeads = kvHeads;
  shape.headDim = headDim;
  shape.feedForward = feedForward;
  shape.layers = layers;
  shape.activation = activation;
  shape.preNorm = preNorm;
  shape.bias = bias;
  return shape;
}

const NamedShape shapes[] = {
    {"Hidden4", make(4, 1, 1, 4, 1)},
    {"Hidden12", make(12, 3, 3, 4, 7, 2, "relu", true)},
    {"Hidden16", make(16, 1, 1, 16, 15, 1, "silu")},
    {"Hidden17", make(17, 1, 1, 17, 17, 3, "tanh", false, false)},
    {"Hidden31", make(31, 8, 1, 12, 33, 1, "sigmoid", true)},
    {"Hidden32", make(32, 1, 1, 32, 31, 2, "gelu_tanh")},
    {"Hidden33", make(33, 7, 7, 20, 129, 1, "quick_gelu", true, false)},
    {"Hidden60", make(60, 5, 5, 12, 171, 2)},
    {"Hidden64", make(64, 8, 2, 64, 127, 1, "silu", true, false)},
    {"Hidden80", make(80, 1, 1, 80, 81, 1, "gelu_tanh")},
    {"Hidden96", make(96, 7, 1, 100, 95, 1, "relu", true)},
    {"Hidden100", make(100, 1, 1, 112, 101, 1)},
    {"Hidden112", make(112, 1, 1, 128, 97, 1, "quick_gelu")},
    {"Hidden130", make(130, 2, 1, 65, 255, 3, "gelu", true)},
    {"Hidden1", make(1, 1, 1, 1, 1, 1, "tanh", true)},
};

INSTANTIATE_TEST_SUITE_P(, Shapes, testing::ValuesIn(shapes),
                         [](const auto &info) { return info.param.name; });

/// One model, every length: borders of strips, query tiles and pages.
TEST(Lengths, Right) {
  EncoderShape shape = make(32, 2, 1, 20, 48, 1);
  shape.positionLimit = 260;
  std::vector<Call> calls;
  for (size_t length :
       {1,  5,  6,  7,   11,  12,  13,  47,  48,  49,  59,  60, 61,
        95, 96, 97, 119, 120, 121, 127, 128, 129, 130, 191, 257})
    calls.push_back(Call::of({length}));
  calls.push_back(Call::of({33, 20}));
  calls.push_back(Call::of({33, 20}).padLeft());
  calls.push_back(Call::of({1, 257, 0, 64, 130}));
  calls.push_back(Call::of({0, 0}));
  calls.push_back(Call::of(std::vector<size_t>(49, 2)));
  calls.push_back(Call::of({}));
  Call all = Call::of({31, 31});
  all.withMask = false;
  calls.push_back(all);
  expectRight(getEncoderText(shape), calls);
}

} // namespace
