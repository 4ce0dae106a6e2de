//===- ExpertTests.cpp - Mixtures of experts ------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against the interpreter, and to the bit. Logits of routers come straight from
// a table of the tokens where it matters that float32 and double choose the
// same experts.
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"

using namespace hexad;
using namespace hexad::test;

namespace {

/// What the experts of a test are.
struct Mixture {
  int64_t count, topK, hidden = 37;
  std::string attributes = "";
};

Rows swiglu(ModelBuilder &b, const Rows &x, int64_t hidden) {
  Rows gate = b.activation("silu", b.linear(x, hidden, false));
  return b.linear(b.multiply(gate, b.linear(x, hidden, false)), x.columns,
                  false);
}

Rows mix(ModelBuilder &b, const Rows &x, const Rows &logits,
         const Mixture &mixture) {
  Rows routes = b.route("softmax", logits, mixture.topK, mixture.attributes);
  return b.experts(x, routes, mixture.count, [&](const Rows &rows) {
    return swiglu(b, rows, mixture.hidden);
  });
}

/// One sparse layer; the routes are an output too.
std::string getText(const Mixture &mixture) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows logits = b.embedWords(mixture.count);
  b.output(b.add(mix(b, x, logits, mixture), x), "y");
  return b.getText();
}

//===----------------------------------------------------------------------===//
// Against the interpreter
//===----------------------------------------------------------------------===//

TEST(Experts, AnyNumberOfThem) {
  for (Mixture mixture : {Mixture{1, 1},
                          {2, 1},
                          {2, 2},
                          {5, 2},
                          {16, 4},
                          {17, 3},
                          {128, 8, 19}}) {
    SCOPED_TRACE(std::to_string(mixture.topK) + " of " +
                 std::to_string(mixture.count));
    expectRight(getText(mixture),
                {Call::of({13, 0, 1, 70}), Call::of({1}), Call::of({0})});
    if (HasFatalFailure())
      return;
  }
}

TEST(Experts, RenormalizedAndScaled) {
  expectRight(getText({8, 3, 37, ", renormalize"}), {Call::of({50})});
  expectRight(getText({8, 3, 37, ", scaling = 2.5 : f64"}), {Call::of({50})});
}

/// More rows than a block has, for two of four experts: threads share them, cut
/// inside of an expert, also where each gets less than a strip.
TEST(Experts, UnevenOnesAreShared) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  Rows logits = b.embedWords(4);
  // Far above what other logits have.
  std::string far = b.newParameter("bias", {4});
  Rows routes =
      b.route("sigmoid", logits, 2, ", renormalize", " selection_bias " + far,
              " selection_bias tensor<4xf32>");
  b.output(b.experts(x, routes, 4,
                     [&](const Rows &rows) { return b.linear(rows, 31); }),
           "y");
  ModelFiles files(b.getText(), [](llvm::StringRef tensor, Floats &values) {
    if (tensor.starts_with("bias") && values.size() == 4)
      values = {0.0f, 50.0f, -3.0f, 100.0f};
  });
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> model = files.compile(cpu);
    ASSERT_TRUE(model) << files.messages;
    for (const Call &call : {Call::of({700, 3}), Call::of({5})}) {
      files.expectTrue(*model, call, {.threads = 3});
      Floats want = model->run(call, {.threads = 1}).values.at("y");
      for (size_t threads : {2, 3, 8})
        EXPECT_TRUE(areIdentical(
            model->run(call, {.threads = threads}).values.at("y"), want))
            << cpu << ", threads " << threads;
    }
  }
}

TEST(Experts, SigmoidWithGroupsBiasAndScales) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  Rows logits = b.embedWords(12);
  std::string bias = b.newParameter("bias", {12});
  std::string scales = b.newParameter("gain", {12});
  Rows routes = b.route(
      "sigmoid", logits, 4,
      ", renormalize, groups = 4 : i64, top_groups = 2 : i64, scaling = 1.8 : "
      "f64",
      " selection_bias " + bias + " scales " + scales,
      " selection_bias tensor<12xf32> scales tensor<12xf32>");
  b.output(b.experts(x, routes, 12,
                     [&](const Rows &rows) { return swiglu(b, rows, 33); }),
           "y");
  expectRight(b.getText(), {Call::of({61, 7})});
}

/// Members of stacked parameters are counted over layers and experts.
TEST(Experts, InALoopOverLayers) {
  ModelBuilder b;
  Rows words = b.embedWords(40);
  Rows logits = b.embedWords(6);
  b.output(b.repeat(3, words,
                    [&](const Rows &x) {
                      return b.add(mix(b, b.rmsNorm(x, 40), logits, {6, 2}), x);
                    }),
           "y");
  expectRight(b.getText(), {Call::of({33, 5})});
}

/// With a router that is a linear layer, biases, and a shared expert beside.
TEST(Experts, BesideASharedOne) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows n = b.rmsNorm(x, 40);
  Rows routed = b.experts(
      n, b.route("softmax", b.linear(n, 7), 2, ", renormalize"), 7,
      [&](const Rows &rows) {
        return b.linear(b.activation("gelu_tanh", b.linear(rows, 29)), 40);
      });
  b.output(b.add(b.add(routed, swiglu(b, n, 50)), x), "y");
  expectRight(b.getText(), {Call::of({20, 1, 9})});
}

/// What gpt-oss makes of gate and up.
TEST(Experts, Clamped) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  auto clamp = [&](const Rows &rows, const std::string &bounds) {
    return b.newRows("clamp " + rows.name + " {" + bounds + "} : tensor<?x" +
                         std::to_string(rows.columns) + "xf32>",
                     rows.columns);
  };
  Rows routes = b.route("softmax", b.embedWords(4), 2, ", renormalize");
  b.output(b.experts(x, routes, 4,
                     [&](const Rows &rows) {
                       Rows gate = b.activation(
                           "quick_gelu",
                           clamp(b.linear(rows, 24), "upper = 0.7 : f64"));
                       Rows up = clamp(b.linear(rows, 24),
                                       "lower = -0.7 : f64, upper = 0.7 : f64");
                       return b.linear(b.add(b.multiply(gate, up), gate), 40);
                     }),
           "y");
  expectRight(b.getText(), {Call::of({40})});
}

/// An expert that gives its rows as they are: the sum of weights times x.
TEST(Experts, ThatDoNothing) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows routes = b.route("softmax", b.embedWords(4), 2, ", renormalize");
  b.output(b.experts(x, routes, 4, [](const Rows &rows) { return rows; }), "y");
  expectRight(b.getText(), {Call::of({14})});
}

/// Experts of pooled rows, and of two mixtures in turn whose tables must not
/// lie in each other's memory.
TEST(Experts, OfSegmentsAndTwice) {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows first = mix(b, x, b.embedWords(5), {5, 2});
  Rows second = mix(b, first, b.embedWords(3), {3, 2});
  Rows pooled = b.pool("first", second);
  b.output(mix(b, pooled, b.pool("first", b.embedWords(4)), {4, 1}), "pooled");
  b.output(b.add(first, second), "y");
  expectRight(b.getText(), {Call::of({31, 2, 8})});
}

//===----------------------------------------------------------------------===//
// To the bit
//===----------------------------------------------------------------------===//

/// A token's bits depend on nothing but the token: not on its neighbours, their
/// number, the threads or the instruction set.
TEST(Experts, NeighboursDoNotMatter) {
  ModelFiles files(getText({16, 4}));
  Call together = Call::of({130, 1, 0, 300, 7});
  std::vector<Outputs> all;
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> model = files.compile(cpu);
    ASSERT_TRUE(model) << files.messages;
    for (size_t threads : {1, 2, 3, 8})
      all.push_back(model->run(together, {.threads = threads}));
    for (size_t row = 0; row < together.rows.size(); ++row) {
      Call alone;
      alone.rows = {together.rows[row]};
      alone.seq = together.rows[row].length;
      EXPECT_TRUE(areIdentical(all.front().getSequence("y", together, row),
                               model->run(alone).getSequence("y", alone, 0)))
          << cpu << " row " << row;
    }
  }
  for (const Outputs &outputs : all)
    EXPECT_TRUE(
        areIdentical(outputs.values.at("y"), all.front().values.at("y")));
}

/// A row whose router gives NaN becomes NaN; others keep their bits.
TEST(Experts, RouterNaN) {
  auto spoil = [](bool isSpoiled) {
    return [isSpoiled](llvm::StringRef tensor, Floats &values) {
      // Logits of the ids: a NaN for some.
      if (isSpoiled && tensor.starts_with("table") && values.size() == 97 * 4)
        for (size_t id = 0; id < 97; id += 3)
          values[4 * id + 1] = std::numeric_limits<float>::quiet_NaN();
    };
  };
  std::string text = getText({4, 2, 37, ", renormalize"});
  ModelFiles clean(text, spoil(false)), spoiled(text, spoil(true));
  std::unique_ptr<CompiledModel> cleanModel = clean.compile();
  std::unique_ptr<CompiledModel> spoiledModel = spoiled.compile();
  ASSERT_TRUE(cleanModel && spoiledModel);
  Call call = Call::of({80});
  std::vector<int32_t> ids = call.getIds("input_ids", ModelBuilder::idLimit);
  Floats want = cleanModel->run(call).values.at("y");
  Floats got = spoiledModel->run(call).values.at("y");
  for (size_t row = 0; row < ids.size(); ++row)
    for (size_t column = 0; column < 40; ++column) {
      float value = got[40 * row + column];
      if (ids[row] % 3 == 0)
        EXPECT_TRUE(std::isnan(value));
      else
        EXPECT_EQ(value, want[40 * row + column]);
    }
}

} // namespace
