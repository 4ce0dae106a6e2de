//===- EqualityTests.cpp - The same bits, however a model is called -------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include <thread>

using namespace hexad;
using namespace hexad::test;

namespace {

EncoderShape getShape() {
  EncoderShape shape;
  shape.hidden = 60;
  shape.heads = 5;
  shape.kvHeads = 5;
  shape.headDim = 12;
  shape.feedForward = 171;
  shape.positionLimit = 300;
  return shape;
}

/// One model for all tests of this file.
class Equality : public testing::Test {
protected:
  static void SetUpTestSuite() {
    files = new ModelFiles(getEncoderText(getShape()));
    model = files->compile("native").release();
    ASSERT_TRUE(model) << files->messages;
  }
  static void TearDownTestSuite() {
    delete model;
    delete files;
  }

  static void expectSame(const Outputs &got, const Outputs &want) {
    ASSERT_EQ(got.values.size(), want.values.size());
    for (const auto &[name, values] : want.values)
      EXPECT_TRUE(areIdentical(got.values.at(name), values)) << name;
  }

  /// The sequence `row` of `call` as it was in `other`.
  static void expectSameSequence(const Outputs &got, const Call &call,
                                 size_t row, const Outputs &want,
                                 const Call &other, size_t otherRow) {
    for (const auto &entry : want.values)
      EXPECT_TRUE(areIdentical(got.getSequence(entry.first, call, row),
                               want.getSequence(entry.first, other, otherRow)))
          << entry.first << " of row " << row;
  }

  static ModelFiles *files;
  static CompiledModel *model;
};
ModelFiles *Equality::files = nullptr;
CompiledModel *Equality::model = nullptr;

const Call mixed = Call::of({130, 1, 0, 59, 61, 12, 257});

TEST_F(Equality, AnyNumberOfThreads) {
  for (const Call &call : {mixed, Call::of({130}), Call::of({1}),
                           Call::of(std::vector<size_t>(30, 1))}) {
    Outputs one = model->run(call, {.threads = 1});
    for (size_t threads : {2, 3, 5, 8})
      expectSame(model->run(call, {.threads = threads}), one);
  }
}

/// Around 12 strips, of 6 and of 12 rows, up to which threads share columns;
/// from there on rows in fours, of which the last thread may get a rest.
TEST_F(Equality, SharedColumnsAndSharedRows) {
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> other = files->compile(cpu);
    ASSERT_TRUE(other) << files->messages;
    for (size_t rows :
         {65, 66, 67, 68, 71, 72, 73, 131, 132, 133, 134, 143, 144, 145, 147}) {
      SCOPED_TRACE(cpu + ", rows " + std::to_string(rows));
      Call call = Call::of({rows});
      Outputs one = other->run(call, {.threads = 1});
      for (size_t threads : {2, 3, 13})
        expectSame(other->run(call, {.threads = threads}), one);
    }
  }
}

TEST_F(Equality, AloneAndInAnyBatch) {
  Outputs together = model->run(mixed);
  Call reversed = mixed;
  std::reverse(reversed.rows.begin(), reversed.rows.end());
  Outputs backwards = model->run(reversed, {.threads = 3});
  for (size_t row = 0; row < mixed.rows.size(); ++row) {
    Call alone;
    alone.rows = {mixed.rows[row]};
    alone.seq = mixed.rows[row].length;
    Outputs single = model->run(alone);
    expectSameSequence(together, mixed, row, single, alone, 0);
    expectSameSequence(backwards, reversed, mixed.rows.size() - 1 - row, single,
                       alone, 0);
  }
}

TEST_F(Equality, AnyPadding) {
  Call call = Call::of({45, 13, 1});
  Outputs want = model->run(call);
  for (size_t left : {0, 1, 7, 100})
    for (size_t right : {0, 1, 50}) {
      Call padded = call;
      padded.seq += left + right;
      for (Sequence &row : padded.rows)
        row.first = left;
      Outputs got = model->run(padded);
      for (size_t row = 0; row < call.rows.size(); ++row)
        expectSameSequence(got, padded, row, want, call, row);
    }
  Call left = call.padLeft();
  Outputs got = model->run(left);
  for (size_t row = 0; row < call.rows.size(); ++row)
    expectSameSequence(got, left, row, want, call, row);
}

TEST_F(Equality, AMaskOfOnesAndNone) {
  Call call = Call::of({45, 45});
  Outputs want = model->run(call);
  call.withMask = false;
  expectSame(model->run(call), want);
}

TEST_F(Equality, AnyCapacity) {
  Call call = Call::of({70, 5});
  Outputs want = model->run(call);
  for (size_t more : {1, 48, 1000})
    expectSame(model->run(call, {.threads = 2,
                                 .tokens = 75 + more,
                                 .segments = 2 + more,
                                 .elements = 140 + more}),
               want);
}

TEST_F(Equality, WhateverTheContextRanBefore) {
  hexad_context_options options = {};
  options.max_tokens = 600;
  options.max_segments = 8;
  options.max_elements = 7 * 257;
  options.threads = 2;
  hexad_context *context = model->createContext(options);
  ASSERT_TRUE(context);
  Call small = Call::of({3, 20});
  Outputs want = model->run(small);
  for (const Call &before : {mixed, Call::of({1}), Call::of({}), mixed}) {
    model->runIn(context, before);
    expectSame(model->runIn(context, small), want);
  }
  model->destroyContext(context);
}

TEST_F(Equality, CodeForAvx2AndForAvx512) {
  std::vector<std::string> cpus = getRunnableCpus();
  if (cpus.size() < 2)
    GTEST_SKIP() << "this host has no AVX-512";
  Outputs want = files->compile(cpus[0])->run(mixed);
  expectSame(files->compile(cpus[1])->run(mixed), want);
}

TEST_F(Equality, ThreadsOfTheCaller) {
  Outputs want = model->run(mixed);
  for (size_t threads : {1, 2, 5})
    expectSame(model->run(mixed, {.threads = threads, .callerThreads = true}),
               want);
}

TEST_F(Equality, SomeOutputsOnly) {
  Outputs all = model->run(mixed);
  for (const char *name : {"last_hidden_state", "pooled"}) {
    Outputs some = model->run(mixed, {}, {name});
    ASSERT_EQ(some.values.size(), 1u);
    EXPECT_TRUE(areIdentical(some.values.at(name), all.values.at(name)));
  }
}

TEST_F(Equality, ContextsAtTheSameTime) {
  Call second = Call::of({17, 90});
  Outputs wants[] = {model->run(mixed), model->run(second)};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round)
        expectSame(model->run(i ? second : mixed, {.threads = 1 + i}),
                   wants[i]);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Equality, CompiledTwice) {
  std::unique_ptr<CompiledModel> again = files->compile("native");
  ASSERT_TRUE(again);
  expectSame(again->run(mixed), model->run(mixed));
}

/// The golden model, whose description can be asked for hidden states.
TEST(MoreOutputs, ChangeNoBit) {
  std::string path = HEXAD_TEST_DIR "/golden/models/bert";
  ModelFiles plain(ModelFiles::Existing{path}, {});
  ModelFiles withHidden(ModelFiles::Existing{path}, {"hidden"});
  std::unique_ptr<CompiledModel> model = plain.compile();
  std::unique_ptr<CompiledModel> more = withHidden.compile();
  ASSERT_TRUE(model && more);
  Call call = Call::of({50, 0, 13, 1, 136});
  Outputs want = model->run(call), got = more->run(call);
  for (const auto &[name, values] : want.values)
    EXPECT_TRUE(areIdentical(got.values.at(name), values)) << name;
  ASSERT_EQ(got.values.count("hidden"), 1u);
  // The last of the stack is the last hidden state.
  for (size_t row = 0; row < call.rows.size(); ++row) {
    Floats stack = got.getSequence("hidden", call, row);
    Floats last = got.getSequence("last_hidden_state", call, row);
    EXPECT_TRUE(
        areIdentical(Floats(stack.end() - last.size(), stack.end()), last));
  }
  withHidden.expectTrue(*more, call);
}

/// Routers of the layers with experts, which are not all, alone and beside
/// stacks of hidden states and of maps.
TEST(RouterLogits, ChangeNoBitOfOtherOutputs) {
  ModelFiles::Existing folder{HEXAD_TEST_DIR "/golden/models/qwen3-moe"};
  ModelFiles plain(folder, {}), alone(folder, {"router_logits"}),
      beside(folder, {"hidden", "attention", "router_logits"});
  std::unique_ptr<CompiledModel> model = plain.compile();
  ASSERT_TRUE(model);
  Call call = Call::of({50, 0, 13, 1, 136});
  Floats want = model->run(call).values.at("logits"), routers;
  for (ModelFiles *files : {&alone, &beside}) {
    std::unique_ptr<CompiledModel> more = files->compile();
    ASSERT_TRUE(more) << files->messages;
    Outputs got = more->run(call);
    EXPECT_TRUE(areIdentical(got.values.at("logits"), want));
    EXPECT_TRUE(areIdentical(
        more->run(call, {}, {"logits"}).values.at("logits"), want));
    const Floats &logits = got.values.at("router_logits");
    ASSERT_EQ(logits.size(), 2u * 5 * 136 * 16);
    if (routers.empty())
      routers = logits;
    EXPECT_TRUE(areIdentical(logits, routers));
    for (size_t threads : {1, 3})
      EXPECT_TRUE(areIdentical(
          more->run(call, {.threads = threads}).values.at("router_logits"),
          routers));
    files->expectTrue(*more, call);
    files->expectTrue(*more, call.padLeft());
  }
}

} // namespace
