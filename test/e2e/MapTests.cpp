//===- MapTests.cpp - Attention maps --------------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "ModelBuilder.h"
#include "Sessions.h"

using namespace hexad;
using namespace hexad::test;

namespace {

/// Lengths around a query tile (60) and a page (128), padding on both sides.
std::vector<Call> getCalls() {
  Call empty;
  empty.rows = {{1, 0}};
  empty.seq = 3;
  Call around = Call::of({60, 0, 61, 13, 1});
  around.seq += 2;
  around.rows[0].first = 1;
  Call all = Call::of({31, 31});
  all.withMask = false;
  return {Call::of({1}),
          Call::of({7, 3, 1}).padLeft(),
          around,
          all,
          Call::of({59}),
          Call::of({127, 128, 129}),
          Call::of({257, 5, 16}).padLeft(),
          empty,
          Call::of({})};
}

struct NamedHeads {
  const char *name;
  Heads heads;
  const char *attributes;
};

class Maps : public testing::TestWithParam<NamedHeads> {};

TEST_P(Maps, Right) {
  ModelBuilder builder;
  const Heads &heads = GetParam().heads;
  Rows x = builder.embedWords(24);
  Rows query =
      builder.linear(x, heads.queryOffset + heads.heads * heads.headDim);
  Rows key = builder.linear(x, heads.keyOffset + heads.kvHeads * heads.headDim);
  builder.attentionMap(query, key, heads, GetParam().attributes, "attention");
  expectRight(builder.getText(), getCalls());
}

const NamedHeads cases[] = {
    {"Plain", {4, 4, 12}, ""},
    {"Scale", {1, 1, 1, 0, 0, 0, 3.5}, ""},
    {"Grouped", {7, 1, 20, 5, 3}, ""},
    {"WideHead", {2, 2, 80}, ""},
    {"Causal", {6, 2, 16}, ", causal"},
    {"Window", {2, 1, 16}, ", causal, window = 9 : i64"},
    {"WideWindow", {2, 1, 16}, ", causal, window = 130 : i64"},
    {"WindowOnly", {2, 2, 8}, ", window = 70 : i64"},
    {"Softcap", {2, 2, 8, 0, 0, 0, 2.0}, ", causal, softcap = 1.5 : f64"},
};

INSTANTIATE_TEST_SUITE_P(, Maps, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

/// A decoder with maps of all layers, in a loop and behind it; and without.
class DecoderMaps : public testing::Test {
protected:
  static void SetUpTestSuite() {
    files = new ModelFiles(getDecoderText(/*maps=*/true));
    model = files->compile().release();
    ASSERT_TRUE(model) << files->messages;
    plainFiles = new ModelFiles(getDecoderText());
    plain = plainFiles->compile().release();
    ASSERT_TRUE(plain) << plainFiles->messages;
  }
  static void TearDownTestSuite() {
    delete model;
    delete files;
    delete plain;
    delete plainFiles;
  }
  static ModelFiles *files, *plainFiles;
  static CompiledModel *model, *plain;
};
ModelFiles *DecoderMaps::files = nullptr;
ModelFiles *DecoderMaps::plainFiles = nullptr;
CompiledModel *DecoderMaps::model = nullptr;
CompiledModel *DecoderMaps::plain = nullptr;

const Call mixed = Call::of({130, 1, 0, 59, 61, 12, 257});

TEST_F(DecoderMaps, Right) {
  files->expectTrue(*model, mixed);
  files->expectTrue(*model, mixed.padLeft());
}

TEST_F(DecoderMaps, SumToOneWhereSomethingIsSeen) {
  Floats maps = model->run(Call::of({70})).values.at("attention");
  ASSERT_EQ(maps.size(), 4u * 4 * 70 * 70);
  for (size_t row = 0; row < maps.size() / 70; ++row) {
    double sum = 0;
    for (size_t t = 0; t < 70; ++t)
      sum += maps[row * 70 + t];
    EXPECT_NEAR(sum, 1, 1e-5) << row;
  }
}

TEST_F(DecoderMaps, AnyNumberOfThreads) {
  Outputs one = model->run(mixed, {.threads = 1});
  for (size_t threads : {2, 3, 8})
    for (bool callers : {false, true}) {
      Outputs got =
          model->run(mixed, {.threads = threads, .callerThreads = callers});
      for (const auto &[name, values] : one.values)
        EXPECT_TRUE(areIdentical(got.values.at(name), values)) << name;
    }
}

TEST_F(DecoderMaps, WhateverElseIsInTheBatch) {
  Outputs together = model->run(mixed), left = model->run(mixed.padLeft());
  for (size_t row = 0; row < mixed.rows.size(); ++row) {
    Call alone;
    alone.rows = {mixed.rows[row]};
    alone.seq = mixed.rows[row].length;
    Floats want = model->run(alone).getSequence("attention", alone, 0);
    EXPECT_TRUE(
        areIdentical(together.getSequence("attention", mixed, row), want));
    EXPECT_TRUE(areIdentical(
        left.getSequence("attention", mixed.padLeft(), row), want));
  }
}

/// The model without maps, the one with them, and that when nobody wants them.
TEST_F(DecoderMaps, ChangeNoBitOfOtherOutputs) {
  Floats want = plain->run(mixed).values.at("logits");
  EXPECT_TRUE(areIdentical(model->run(mixed).values.at("logits"), want));
  EXPECT_TRUE(areIdentical(
      model->run(mixed, {}, {"logits"}).values.at("logits"), want));
}

/// `extend` gives no maps, and gives what it gives without them.
TEST_F(DecoderMaps, SessionsAreAsWithout) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 150; ++i)
    tokens.push_back(i * 31 % decoderIdLimit);
  Floats logits[2];
  const CompiledModel *models[] = {plain, model};
  for (size_t i = 0; i < 2; ++i) {
    SessionLibrary library(*models[i]);
    ContextHandle context(*models[i],
                          {.tokens = 150, .logits = 150, .threads = 2});
    SessionHandle session(library, {.capacity = 200});
    for (size_t first : {0, 50})
      llvm::append_range(logits[i], session.extend(context,
                                                   llvm::ArrayRef(tokens).slice(
                                                       first, first ? 100 : 50),
                                                   HEXAD_ALL_LOGITS));
  }
  EXPECT_TRUE(areIdentical(logits[0], logits[1]));
}

/// A family's layers: maps and hidden states together, neither changes a bit.
TEST(FamilyMaps, ChangeNoBitOfOtherOutputs) {
  std::string path = HEXAD_TEST_DIR "/golden/models/bert";
  ModelFiles plain(ModelFiles::Existing{path}, {});
  ModelFiles withMaps(ModelFiles::Existing{path}, {"hidden", "attention"});
  std::unique_ptr<CompiledModel> model = plain.compile();
  std::unique_ptr<CompiledModel> more = withMaps.compile();
  ASSERT_TRUE(model && more) << withMaps.messages;
  Call call = Call::of({50, 0, 13, 1});
  Outputs want = model->run(call), got = more->run(call);
  for (const auto &[output, values] : want.values)
    EXPECT_TRUE(areIdentical(got.values.at(output), values)) << output;
  EXPECT_EQ(got.values.count("attention"), 1u);
  withMaps.expectTrue(*more, call);
}

} // namespace
