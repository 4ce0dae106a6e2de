//===- LossTests.cpp - Cross-entropy of whole models ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include "Sessions.h"
#include <cmath>

using namespace hexad;
using namespace hexad::test;

namespace {

enum class Labels { Own, Next, OfSegments };

struct LossShape {
  int64_t classes = 97;
  Labels labels = Labels::Own;
  bool bias = true;
  bool capped = false; ///< scaled and softcapped
  bool logits = false; ///< an output, and what the loss is computed from
  bool each = false;   ///< each row's loss is an output
};

std::string getText(const LossShape &shape) {
  ModelBuilder b;
  Rows x = b.layerNorm(b.add(b.embedWords(36), b.embedTypes(36)));
  bool pooled = shape.labels == Labels::OfSegments;
  if (pooled)
    x = b.pool("mean", x);
  b.takeLabels(shape.classes, shape.labels == Labels::Next, pooled);
  Rows logits = b.linear(x, shape.classes, shape.bias);
  if (shape.capped)
    logits = b.softcap(b.scale(logits, 3.5), 5.0);
  Rows losses = b.crossEntropy(logits);
  if (shape.logits)
    b.output(logits, "logits");
  if (shape.each)
    b.output(losses, "each");
  b.outputLoss(losses);
  return b.getText();
}

/// More than a block of rows; empty and short segments.
const Call mixed = Call::of({13, 0, 1, 230, 2});

//===----------------------------------------------------------------------===//
// Against the interpreter
//===----------------------------------------------------------------------===//

class LossOfClasses : public testing::TestWithParam<int64_t> {};

// On both sides of the borders of vectors, of panels and of tiles.
TEST_P(LossOfClasses, IsRight) {
  LossShape shape{.classes = GetParam(), .each = true};
  for (bool capped : {false, true}) {
    shape.bias = !capped;
    shape.capped = capped;
    expectRight(getText(shape), {mixed, mixed.padLeft(), Call::of({5})});
  }
}
INSTANTIATE_TEST_SUITE_P(Loss, LossOfClasses,
                         testing::Values(1, 15, 16, 17, 97, 511, 512, 513, 1023,
                                         1024, 1025, 5000),
                         testing::PrintToStringParamName());

TEST(Loss, OfTheNextToken) {
  expectRight(getText({.labels = Labels::Next, .each = true}),
              {mixed, mixed.padLeft(), Call::of({2, 2})});
}

TEST(Loss, OfSegments) {
  expectRight(getText({.classes = 600, .labels = Labels::OfSegments}),
              {mixed, Call::of({4}), Call::of(std::vector<size_t>(200, 2))});
}

TEST(Loss, BesideLogits) {
  expectRight(getText({.classes = 600, .capped = true, .logits = true}),
              {mixed});
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

TEST(Loss, SameBitsForAnyThreadsPaddingAndTarget) {
  ModelFiles files(getText({.classes = 1300, .each = true}));
  Floats first;
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> model = files.compile(cpu);
    ASSERT_TRUE(model) << files.messages;
    for (const Call &call : {mixed, mixed.padLeft()})
      for (size_t threads : {1, 2, 3, 5})
        for (bool callers : {false, true}) {
          Floats loss =
              model->run(call, {.threads = threads, .callerThreads = callers})
                  .values["loss"];
          if (first.empty())
            first = loss;
          ASSERT_EQ(loss.size(), 1u);
          EXPECT_GT(loss[0], 1.0f);
          EXPECT_TRUE(areIdentical(loss, first)) << threads << " on " << cpu;
        }
  }
}

TEST(Loss, RowsHaveTheSameBitsInAnyBatch) {
  ModelFiles files(getText({.classes = 1300, .each = true}));
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  Outputs together = model->run(mixed);
  for (size_t row = 0; row < mixed.rows.size(); ++row) {
    Call alone = {.seq = mixed.rows[row].length, .rows = {mixed.rows[row]}};
    EXPECT_TRUE(areIdentical(together.getSequence("each", mixed, row),
                             model->run(alone).getSequence("each", alone, 0)))
        << row;
  }
}

// Logits in memory or a tile at a time: the same operations.
TEST(Loss, SameBitsWithAndWithoutLogits) {
  for (bool capped : {false, true}) {
    ModelFiles with(getText(
        {.classes = 1300, .capped = capped, .logits = true, .each = true})),
        without(getText({.classes = 1300, .capped = capped, .each = true}));
    for (const std::string &cpu : getRunnableCpus()) {
      std::unique_ptr<CompiledModel> one = with.compile(cpu),
                                     other = without.compile(cpu);
      ASSERT_TRUE(one && other) << with.messages << without.messages;
      Outputs lhs = one->run(mixed), rhs = other->run(mixed);
      for (const char *name : {"each", "loss"})
        EXPECT_TRUE(areIdentical(lhs.values[name], rhs.values[name])) << name;
      Outputs alone = one->run(mixed, {}, {"loss"});
      EXPECT_TRUE(areIdentical(alone.values["loss"], rhs.values["loss"]));
    }
  }
}

TEST(Loss, NeedsNoMemoryForLogits) {
  constexpr size_t tokens = 4096, classes = 5000;
  ModelFiles files(getText({.classes = classes}));
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  hexad_context_options options = {};
  options.max_tokens = tokens;
  options.max_segments = 1;
  options.threads = 2;
  EXPECT_LT(model->getContextSize(options),
            tokens * classes * sizeof(float) / 10);
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

TEST(Loss, OfNothingIsNaN) {
  ModelFiles files(getText({.each = true}));
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  Call unlabelled = mixed;
  unlabelled.unlabelled = 1;
  for (const Call &call : {unlabelled, Call::of({}), Call::of({0, 0})}) {
    Outputs outputs = model->run(call);
    EXPECT_TRUE(std::isnan(outputs.values["loss"][0]));
    for (float loss : outputs.values["each"])
      EXPECT_EQ(loss, 0);
  }
}

/// The rows of one id have a logit that is not finite: those with a label have
/// no loss, the others take no part.
TEST(Loss, NaNOfALogit) {
  auto run = [](float spoilt, unsigned unlabelled) {
    ModelFiles files(getText({.classes = 600, .each = true}),
                     [&](llvm::StringRef name, Floats &values) {
                       if (name.starts_with("bias") && values.size() == 600)
                         values[550] = spoilt;
                     });
    std::unique_ptr<CompiledModel> model = files.compile();
    EXPECT_TRUE(model) << files.messages;
    Call call = mixed;
    call.unlabelled = unlabelled;
    return model ? model->run(call) : Outputs();
  };
  for (float spoilt : {NAN, INFINITY}) {
    Outputs outputs = run(spoilt, 3);
    EXPECT_TRUE(std::isnan(outputs.values["loss"][0]));
    size_t nans = 0, zeros = 0;
    for (float loss : outputs.values["each"]) {
      nans += std::isnan(loss);
      zeros += loss == 0;
    }
    EXPECT_EQ(nans + zeros, outputs.values["each"].size());
    EXPECT_GT(nans, mixed.getTokens() / 2);
  }
  // It has probability 0, and no label is it.
  Outputs without = run(-INFINITY, 3);
  EXPECT_TRUE(std::isfinite(without.values["loss"][0]));
}

//===----------------------------------------------------------------------===//
// Checkpoint folders
//===----------------------------------------------------------------------===//

class FamilyLoss : public testing::TestWithParam<const char *> {
protected:
  /// A context with room for one row of logits: the loss needs none.
  static void expectNoLogitsNeeded(const CompiledModel &model,
                                   const Floats &want, const Call &call) {
    hexad_context_options options = {};
    options.max_tokens = call.getTokens();
    options.max_elements = call.rows.size() * call.seq;
    options.max_segments = call.rows.size();
    options.max_logits = 1;
    options.threads = 1;
    hexad_context *context = model.createContext(options);
    ASSERT_TRUE(context);
    Outputs outputs = model.runIn(context, call, 0, {"loss"});
    EXPECT_TRUE(areIdentical(outputs.values.at("loss"), want));
    model.destroyContext(context);
  }

  /// Extending gives the logits that it gives without a loss.
  static void expectSameSession(const CompiledModel &model) {
    constexpr size_t count = 140;
    Call call = Call::of({count});
    const InputInfo &ids = model.getInfo().inputs.front();
    std::vector<int32_t> tokens = call.getIds(ids.name, ids.limit);
    Floats want = model.run(call).values.at("logits"), got;
    SessionLibrary library(model);
    ContextHandle context(model, {.tokens = count, .threads = 2});
    SessionHandle session(library, {.capacity = count, .slack = 9});
    for (size_t piece : {5, 1, 121, 2, 1, 10}) {
      Floats part = session.extend(
          context, llvm::ArrayRef(tokens).slice(session.getPosition(), piece),
          HEXAD_ALL_LOGITS);
      got.insert(got.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(areIdentical(got, want));
  }
};

TEST_P(FamilyLoss, IsRightAndChangesNothingElse) {
  std::string path =
      std::string(HEXAD_TEST_DIR) + "/golden/models/" + GetParam();
  ModelFiles plain{ModelFiles::Existing{path}, {}};
  ModelFiles files{ModelFiles::Existing{path}, {"loss"}};
  std::unique_ptr<CompiledModel> without = plain.compile();
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model && without) << files.messages;
  Call call = Call::of({50, 0, 13, 1, 130});
  files.expectTrue(*model, call);
  Outputs want = without->run(call), got = model->run(call);
  EXPECT_TRUE(areIdentical(got.values.at("logits"), want.values.at("logits")));
  Outputs logits = model->run(call, {}, {"logits"});
  EXPECT_TRUE(
      areIdentical(logits.values.at("logits"), want.values.at("logits")));
  const Floats &loss = got.values.at("loss");
  for (const Call &other : {call, call.padLeft()})
    for (size_t threads : {1, 3}) {
      Outputs alone = model->run(other, {.threads = threads}, {"loss"});
      EXPECT_TRUE(areIdentical(alone.values.at("loss"), loss));
    }
  expectNoLogitsNeeded(*model, loss, call);
  if (!model->getInfo().caches.empty())
    expectSameSession(*model);
}

INSTANTIATE_TEST_SUITE_P(, FamilyLoss,
                         testing::Values("bert-mlm", "gpt-neox", "gpt2",
                                         "llama-yarn"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
