//===- OpTests.cpp - Ops in every order that verifies ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers build encoders in one way; IR that a user writes may have the ops in
// any order. Each test is about a decision of code generation: what is fused,
// what is computed in place, whose buffer is reused.
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"

using namespace hexad::test;

namespace {

const Call smallCall = Call::of({13, 0, 1, 70});

void expectModelRight(const ModelBuilder &builder) {
  expectRight(builder.getText(), {smallCall, Call::of({5})});
}

//===----------------------------------------------------------------------===//
// Epilogues of linear
//===----------------------------------------------------------------------===//

TEST(Epilogue, ActivationBeforeLinear) {
  ModelBuilder b;
  Rows x = b.embedWords(33);
  b.output(b.linear(b.activation("gelu", x), 40), "y");
  expectModelRight(b);
}

TEST(Epilogue, AddOfTwoLinears) {
  ModelBuilder b;
  Rows x = b.embedWords(33);
  b.output(b.add(b.linear(x, 40), b.linear(x, 40, false)), "y");
  expectModelRight(b);
}

TEST(Epilogue, AddOfALinearToItself) {
  ModelBuilder b;
  Rows y = b.linear(b.embedWords(33), 40);
  b.output(b.add(y, y), "y");
  expectModelRight(b);
}

TEST(Epilogue, AddOfAnActivatedLinearToItself) {
  ModelBuilder b;
  Rows y = b.activation("silu", b.linear(b.embedWords(33), 40));
  b.output(b.add(y, y), "y");
  expectModelRight(b);
}

TEST(Epilogue, ResidualOnTheLeft) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  b.output(b.add(x, b.linear(x, 40)), "y");
  expectModelRight(b);
}

TEST(Epilogue, ResidualMadeAfterTheLinear) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows y = b.linear(x, 40);
  Rows residual = b.layerNorm(x);
  b.output(b.add(y, residual), "y");
  expectModelRight(b);
}

TEST(Epilogue, TwoActivations) {
  ModelBuilder b;
  Rows y = b.linear(b.embedWords(16), 17);
  b.output(b.activation("tanh", b.activation("relu", y)), "y");
  expectModelRight(b);
}

TEST(Epilogue, ActivationAfterResidual) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  b.output(b.activation("sigmoid", b.add(b.linear(x, 20), x)), "y");
  expectModelRight(b);
}

TEST(Epilogue, GatedFeedForwardByAdd) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows gate = b.activation("silu", b.linear(x, 36));
  Rows up = b.linear(x, 36);
  b.output(b.linear(b.add(gate, up), 20), "y");
  expectModelRight(b);
}

TEST(Epilogue, EveryResultIsAnOutput) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows linear = b.linear(x, 40);
  Rows activated = b.activation("gelu", linear);
  Rows sum = b.add(activated, x);
  Rows norm = b.layerNorm(sum);
  b.output(x, "x");
  b.output(linear, "linear");
  b.output(activated, "activated");
  b.output(sum, "sum");
  b.output(norm, "norm");
  expectModelRight(b);
}

TEST(Epilogue, EveryActivation) {
  ModelBuilder b;
  Rows x = b.embedWords(30);
  for (const char *kind :
       {"gelu", "gelu_tanh", "quick_gelu", "silu", "relu", "tanh", "sigmoid"}) {
    b.output(b.activation(kind, b.linear(x, 19)), std::string(kind) + "_fused");
    b.output(b.activation(kind, x), kind + std::string("_alone"));
  }
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Values that are used later
//===----------------------------------------------------------------------===//

TEST(Lifetime, NormOfAValueThatIsUsedLater) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(24), 40);
  Rows norm = b.layerNorm(x);
  b.output(b.add(b.linear(norm, 40), x), "y");
  expectModelRight(b);
}

TEST(Lifetime, SameRowsInTwoNorms) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.add(b.layerNorm(x), b.layerNorm(x, false)), "y");
  expectModelRight(b);
}

TEST(Lifetime, ChainOfNorms) {
  ModelBuilder b;
  Rows x = b.layerNorm(b.embedWords(37));
  for (int i = 0; i < 3; ++i)
    x = b.l2Normalize(b.layerNorm(b.softmax(x)));
  b.output(x, "y");
  expectModelRight(b);
}

TEST(Lifetime, ResidualOverManyBlocks) {
  ModelBuilder b;
  Rows x = b.embedWords(20), y = x, z = x;
  for (int i = 0; i < 4; ++i) {
    y = b.linear(y, 20);
    z = b.attention(y, y, y, {1, 1, 20});
  }
  b.output(b.add(b.add(x, y), z), "y");
  expectModelRight(b);
}

TEST(Lifetime, OneRectangleTwice) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  std::string type = "tensor<?x?x20xf32>";
  b.line("%y = hexad.unpack_rows " + x.name +
         ", %segments : tensor<?x20xf32> -> " + type);
  b.rawOutput("%y", type, "a");
  b.rawOutput("%y", type, "b");
  b.output(x, "c");
  expectModelRight(b);
}

TEST(Lifetime, UnusedValues) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  b.linear(x, 7);
  b.attention(x, x, x, {1, 1, 20});
  b.output(x, "y");
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

TEST(Parameter, TiedEmbedding) {
  ModelBuilder b;
  std::string table = b.newParameter("table", {97, 20});
  Rows x = b.newRows("embedding %ids, " + table +
                         " : tensor<?xi32>, tensor<97x20xf32> -> "
                         "tensor<?x20xf32>",
                     20);
  b.output(b.linearWith(b.layerNorm(x), table, 97), "logits");
  expectModelRight(b);
}

TEST(Parameter, OneMatrixTwice) {
  ModelBuilder b;
  std::string matrix = b.newParameter("matrix", {20, 20});
  Rows x = b.embedWords(20);
  b.output(b.linearWith(b.linearWith(x, matrix, 20), matrix, 20), "y");
  expectModelRight(b);
}

TEST(Parameter, TablesWithOffset) {
  ModelBuilder b(100);
  Rows x = b.embedPositions(20, 110, 2);
  b.output(b.add(x, b.embedWords(20)), "y");
  expectModelRight(b);
}

TEST(Parameter, OneVectorAsGainAndBias) {
  ModelBuilder b;
  std::string gain = b.newParameter("gain", {20});
  std::string matrix = b.newParameter("matrix", {20, 20});
  Rows x = b.linearWith(b.embedWords(20), matrix, 20, gain);
  Rows y = b.newRows("layer_norm " + x.name + ", " + gain + " bias " + gain +
                         " eps 1.0e-6 : tensor<?x20xf32>, tensor<20xf32>, "
                         "tensor<20xf32>",
                     20);
  b.output(y, "y");
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

TEST(Attention, SameRowsAsQueryKeyAndValue) {
  ModelBuilder b;
  Rows x = b.embedWords(48);
  b.output(b.attention(x, x, x, {4, 4, 12}), "y");
  expectModelRight(b);
}

TEST(Attention, PartsOfOneProjection) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(20), 8 * 12 + 2 * 2 * 12 + 5);
  b.output(b.attention(x, x, x, {8, 2, 12, 0, 96 + 5, 96 + 24 + 5}), "y");
  expectModelRight(b);
}

TEST(Attention, OffsetsWithSeparateOperands) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows q = b.linear(x, 70), k = b.linear(x, 41), v = b.linear(x, 33);
  b.output(b.attention(q, k, v, {3, 1, 20, 9, 21, 13}), "y");
  expectModelRight(b);
}

TEST(Attention, ProjectionsOfDifferentRows) {
  ModelBuilder b;
  Rows x = b.embedWords(20), y = b.layerNorm(x);
  b.output(b.attention(b.linear(x, 24), b.linear(y, 24), b.linear(x, 24),
                       {2, 2, 12}),
           "y");
  expectModelRight(b);
}

TEST(Attention, OneProjectionWithoutBias) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  b.output(b.attention(b.linear(x, 24), b.linear(x, 24, false), b.linear(x, 24),
                       {2, 2, 12}),
           "y");
  expectModelRight(b);
}

TEST(Attention, ProjectionIsAnOutput) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows q = b.linear(x, 24), k = b.linear(x, 24), v = b.linear(x, 24);
  b.output(b.attention(q, k, v, {2, 2, 12}), "y");
  b.output(k, "k");
  expectModelRight(b);
}

TEST(Attention, TwoWithTheSameProjections) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  std::string w = b.newParameter("matrix", {24, 24});
  auto project = [&](const Rows &in) { return b.linearWith(in, w, 24); };
  Rows y = b.attention(project(x), project(x), project(x), {2, 2, 12});
  b.output(b.attention(project(y), project(y), project(y), {2, 2, 12}), "y");
  expectModelRight(b);
}

TEST(Attention, OfAttention) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  Rows y = b.attention(x, x, x, {2, 2, 12});
  b.output(b.attention(y, x, y, {1, 1, 24}), "y");
  expectModelRight(b);
}

TEST(Attention, ScaleZeroIsTheMean) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.attention(x, x, x, {2, 2, 12, 0, 0, 0, 1e-30}), "y");
  b.output(b.attention(x, x, x, {2, 2, 12, 0, 0, 0, -0.5}), "negative");
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

TEST(Pooling, Both) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  b.output(b.pool("first", x), "first");
  b.output(b.pool("mean", x), "mean");
  b.output(x, "x");
  expectModelRight(b);
}

TEST(Pooling, HeadsBehind) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows first = b.pool("first", x), mean = b.pool("mean", x);
  Rows sum = b.add(b.linear(first, 33), b.linear(mean, 33));
  b.output(b.l2Normalize(sum), "direction");
  b.output(b.softmax(b.linear(b.activation("tanh", sum), 3)), "classes");
  b.output(b.layerNorm(first), "norm");
  expectRight(b.getText(), {Call::of(std::vector<size_t>(50, 2)), smallCall});
}

TEST(Pooling, MixedWithTokens) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows first = b.pool("first", x);
  Rows y = b.linear(x, 20);
  Rows z = b.linear(first, 20);
  b.output(b.add(y, x), "y");
  b.output(b.add(z, first), "z");
  expectModelRight(b);
}

TEST(Pooling, OneValueTwice) {
  ModelBuilder b;
  Rows first = b.pool("first", b.embedWords(20));
  b.output(first, "a");
  b.output(first, "b");
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

TEST(Loop, LinearOnly) {
  ModelBuilder b;
  b.output(b.repeat(3, b.embedWords(40),
                    [&](const Rows &x) { return b.linear(x, 40); }),
           "y");
  expectModelRight(b);
}

TEST(Loop, LinearWithResidual) {
  ModelBuilder b;
  b.output(b.repeat(2, b.embedWords(40),
                    [&](const Rows &x) { return b.add(b.linear(x, 40), x); }),
           "y");
  expectModelRight(b);
}

TEST(Loop, NormOfTheBranch) {
  ModelBuilder b;
  b.output(b.repeat(2, b.embedWords(40),
                    [&](const Rows &x) {
                      return b.add(b.layerNorm(b.linear(x, 40)), x);
                    }),
           "y");
  expectModelRight(b);
}

TEST(Loop, NormBehindLinear) {
  ModelBuilder b;
  b.output(b.repeat(2, b.embedWords(40),
                    [&](const Rows &x) {
                      return b.layerNorm(b.activation("gelu", b.linear(x, 40)));
                    }),
           "y");
  expectModelRight(b);
}

TEST(Loop, ElementwiseOnly) {
  ModelBuilder b;
  b.output(b.repeat(3, b.embedWords(40),
                    [&](const Rows &x) {
                      return b.add(b.activation("tanh", x), x);
                    }),
           "y");
  expectModelRight(b);
}

TEST(Loop, AttentionOnly) {
  ModelBuilder b;
  b.output(
      b.repeat(3, b.embedWords(24),
               [&](const Rows &x) { return b.attention(x, x, x, {2, 2, 12}); }),
      "y");
  expectModelRight(b);
}

TEST(Loop, CarriesWhatEntersUnchanged) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  std::vector<Rows> y =
      b.repeat(2, {x, b.embedTypes(24)}, [&](const std::vector<Rows> &in) {
        return std::vector<Rows>{b.add(b.linear(in[0], 24), in[1]), in[1]};
      });
  b.output(y[0], "y");
  b.output(y[1], "types");
  expectModelRight(b);
}

TEST(Loop, TwoValuesOfDifferentWidth) {
  ModelBuilder b;
  Rows x = b.embedWords(24), m = b.embedTypes(33);
  std::vector<Rows> y = b.repeat(3, {x, m}, [&](const std::vector<Rows> &in) {
    Rows first = b.layerNorm(b.add(b.linear(in[1], 24), in[0]));
    Rows second = b.activation("tanh", b.linear(first, 33));
    return std::vector<Rows>{first, second};
  });
  b.output(y[0], "y");
  b.output(y[1], "m");
  expectModelRight(b);
}

TEST(Loop, TwoValuesFromOne) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  std::vector<Rows> y = b.repeat(2, {x, x}, [&](const std::vector<Rows> &in) {
    return std::vector<Rows>{b.layerNorm(in[0]), b.activation("tanh", in[1])};
  });
  b.output(b.add(y[0], y[1]), "y");
  expectModelRight(b);
}

TEST(Loop, ValuesChangePlaces) {
  ModelBuilder b;
  Rows x = b.embedWords(24), m = b.embedTypes(24);
  std::vector<Rows> y = b.repeat(3, {x, m}, [&](const std::vector<Rows> &in) {
    return std::vector<Rows>{b.layerNorm(in[1]), in[0]};
  });
  b.output(y[0], "y");
  b.output(y[1], "m");
  expectModelRight(b);
}

TEST(Loop, SameValueYieldedTwice) {
  ModelBuilder b;
  Rows x = b.embedWords(24), m = b.embedTypes(24);
  std::vector<Rows> y = b.repeat(2, {x, m}, [&](const std::vector<Rows> &in) {
    Rows sum = b.add(b.linear(in[0], 24), in[1]);
    return std::vector<Rows>{sum, sum};
  });
  b.output(y[0], "y");
  b.output(y[1], "m");
  expectModelRight(b);
}

TEST(Loop, InitialValueIsUsedBehindTheLoop) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  Rows y = b.repeat(2, x, [&](const Rows &in) {
    return b.layerNorm(b.add(b.linear(in, 24), in));
  });
  b.output(b.add(x, y), "y");
  b.output(x, "x");
  expectModelRight(b);
}

TEST(Loop, InitialValueIsUsedInside) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.repeat(2, x,
                    [&](const Rows &in) {
                      return b.layerNorm(b.add(b.linear(in, 24), x));
                    }),
           "y");
  expectModelRight(b);
}

TEST(Loop, TwoLoopsFromOneValue) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  auto body = [&](const Rows &in) { return b.layerNorm(b.linear(in, 24)); };
  Rows y = b.repeat(2, x, body), z = b.repeat(3, x, body);
  b.output(b.add(y, z), "y");
  expectModelRight(b);
}

TEST(Loop, MiddleOfTheBodyIsUsedTwice) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.repeat(2, x,
                    [&](const Rows &in) {
                      Rows h = b.layerNorm(in);
                      Rows y = b.attention(h, h, h, {2, 2, 12});
                      Rows z = b.add(b.linear(y, 24), in);
                      return b.add(b.linear(b.layerNorm(z), 24), b.add(z, h));
                    }),
           "y");
  expectModelRight(b);
}

TEST(Loop, OfPooledRows) {
  ModelBuilder b;
  Rows x = b.pool("mean", b.embedWords(24));
  Rows y = b.repeat(2, x, [&](const Rows &in) {
    return b.layerNorm(b.add(b.linear(in, 24), in));
  });
  b.output(y, "y");
  expectModelRight(b);
}

TEST(Loop, OfBothDomains) {
  ModelBuilder b;
  Rows x = b.embedWords(24), p = b.pool("first", x);
  std::vector<Rows> y = b.repeat(2, {x, p}, [&](const std::vector<Rows> &in) {
    Rows tokens = b.layerNorm(b.linear(in[0], 24));
    Rows pooled = b.add(b.linear(in[1], 24), b.pool("mean", tokens));
    return std::vector<Rows>{tokens, pooled};
  });
  b.output(y[0], "y");
  b.output(y[1], "p");
  expectModelRight(b);
}

TEST(Loop, EmbeddingInside) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.repeat(2, x,
                    [&](const Rows &in) {
                      return b.add(b.linear(in, 24), b.embedTypes(24));
                    }),
           "y");
  expectModelRight(b);
}

TEST(Loop, OfOneIteration) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.repeat(1, x, [&](const Rows &in) { return b.linear(in, 24); }),
           "y");
  expectModelRight(b);
}

TEST(Loop, BehindALoop) {
  ModelBuilder b;
  Rows x = b.repeat(2, b.embedWords(24),
                    [&](const Rows &in) { return b.linear(in, 24); });
  x = b.repeat(2, b.linear(x, 12),
               [&](const Rows &in) { return b.add(b.linear(in, 12), in); });
  b.output(x, "y");
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

TEST(Block, MixesEmbeddings) {
  ModelBuilder b(100);
  Rows words = b.embedWords(30), types = b.embedTypes(30);
  Rows positions = b.embedPositions(30, 100);
  Rows projected = b.linear(words, 50);
  Rows other = b.linear(b.add(types, positions), 50);
  b.output(b.layerNorm(b.add(projected, other)), "y");
  expectModelRight(b);
}

TEST(Block, WidthsOfEverySize) {
  ModelBuilder b;
  Rows x = b.embedWords(1);
  for (int64_t width : {200, 3, 65, 16, 15, 129, 1, 32, 31})
    x = b.activation("tanh", b.linear(x, width));
  b.output(x, "y");
  expectModelRight(b);
}

TEST(Block, ManyResults) {
  ModelBuilder b;
  Rows x = b.embedWords(12);
  for (int i = 0; i < 8; ++i)
    b.output(b.linear(x, 5 + 7 * i), "y" + std::to_string(i));
  expectModelRight(b);
}

TEST(Block, DeepChainWithResiduals) {
  ModelBuilder b;
  Rows x = b.embedWords(20), y = x;
  for (int i = 0; i < 6; ++i)
    y = b.add(b.activation("gelu_tanh", b.linear(b.layerNorm(y), 20)),
              i % 2 ? x : y);
  b.output(y, "y");
  expectModelRight(b);
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

TEST(Decoder, RmsNorm) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(20), 60);
  b.output(b.rmsNorm(x, 60), "norm");
  b.output(b.rmsNorm(x, 60, "{unit_offset}"), "unit_offset");
  b.output(
      b.newRows("rms_norm " + x.name + " eps 1.0e-5 : tensor<?x60xf32>", 60),
      "no_weight");
  expectModelRight(b);
}

TEST(Decoder, RmsNormOfGroups) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(20), 60);
  b.output(b.rmsNorm(x, 12, "{groups = 5 : i64}"), "all");
  b.output(b.rmsNorm(x, 17,
                     "{groups = 2 : i64, group_size = 17 : i64, "
                     "offset = 7 : i64}"),
           "some");
  b.output(b.rmsNorm(b.rmsNorm(b.linear(x, 41), 20,
                               "{groups = 1 : i64, group_size = 20 : i64}"),
                     21, "{offset = 20 : i64}"),
           "in_place");
  expectModelRight(b);
}

TEST(Decoder, ScaleAndSoftcap) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(20), 41);
  b.output(b.scale(x, -7.745966692), "scaled");
  b.output(b.softcap(b.scale(x, 100), 30.0), "capped");
  b.output(x, "x");
  expectModelRight(b);
}

TEST(Decoder, GatedFeedForward) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows gate = b.activation("silu", b.linear(x, 36));
  Rows up = b.linear(x, 36);
  b.output(b.add(b.linear(b.multiply(gate, up), 20), x), "y");
  expectModelRight(b);
}

TEST(Decoder, MultiplyInEveryOrder) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows y = b.linear(x, 20), z = b.linear(x, 20);
  b.output(b.multiply(x, x), "square");
  b.output(b.multiply(x, b.layerNorm(x)), "left");
  b.output(b.multiply(b.multiply(y, z), x), "right");
  b.output(b.layerNorm(b.multiply(z, b.scale(y, 3))), "norm");
  expectModelRight(b);
}

TEST(Decoder, RopeOfWholeHeads) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(20), 72);
  Rows table = b.rotary(6);
  b.output(b.rope("half", x, table, 6, 12), "half");
  b.output(b.rope("interleaved", x, table, 6, 12), "interleaved");
  b.output(table, "table");
  expectModelRight(b);
}

TEST(Decoder, RopeOfPartsOfHeads) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(20), 90);
  Rows large = b.rotary(17), small = b.rotary(3);
  b.output(b.rope("half", x, large, 2, 40, 9), "half");
  b.output(b.rope("interleaved", x, small, 4, 20, 10), "interleaved");
  Rows y = b.linear(b.embedWords(20), 80);
  b.output(b.rope("half", b.rope("half", y, large, 1, 40), small, 2, 20, 40),
           "in_place");
  expectModelRight(b);
}

TEST(Decoder, LayersShareOneRotary) {
  ModelBuilder b;
  Rows x = b.embedWords(24), table = b.rotary(6);
  Rows y = b.repeat(2, x, [&](const Rows &in) {
    Rows h = b.rmsNorm(in, 24);
    Rows q = b.rope("half", b.linear(h, 48, false), table, 4, 12);
    Rows k = b.rope("half", b.linear(h, 24, false), table, 2, 12);
    Rows v = b.linear(h, 24, false);
    Rows sum = b.add(b.linear(b.attention(q, k, v, {4, 2, 12}), 24), in);
    Rows n = b.rmsNorm(sum, 24);
    Rows gated = b.multiply(b.activation("silu", b.linear(n, 40, false)),
                            b.linear(n, 40, false));
    return b.add(b.linear(gated, 24, false), sum);
  });
  b.output(b.softcap(b.linear(b.rmsNorm(y, 24), 97), 5), "logits");
  expectModelRight(b);
}

} // namespace
