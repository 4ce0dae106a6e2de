//===- WeightsTypeTests.cpp - Weights that are stored in 16 bits ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include "Sessions.h"

using namespace hexad;
using namespace hexad::test;

namespace {

/// A model of experts that a table of the tokens chooses.
std::string getExpertsText() {
  ModelBuilder b;
  Rows x = b.embedWords(40);
  Rows routes = b.route("softmax", b.embedWords(6), 2, ", renormalize");
  Rows y = b.experts(x, routes, 6, [&](const Rows &rows) {
    Rows gate = b.activation("silu", b.linear(rows, 37, false));
    return b.linear(b.multiply(gate, b.linear(rows, 37, false)), 40, false);
  });
  b.output(b.add(y, x), "y");
  return b.getText();
}

ModelFiles getGolden(const std::string &name,
                     llvm::ArrayRef<std::string> outputs = {}) {
  return ModelFiles(
      ModelFiles::Existing{HEXAD_TEST_DIR "/golden/models/" + name}, outputs);
}

class WeightsTypes : public testing::TestWithParam<WeightsType> {
protected:
  /// Every output against the interpreter, and the same bits on every CPU, for
  /// any number of threads and for each sequence alone.
  static void check(ModelFiles &files, const Call &call) {
    files.setWeightsType(GetParam());
    Outputs want;
    for (const std::string &cpu : getRunnableCpus()) {
      std::unique_ptr<CompiledModel> model = files.compile(cpu);
      ASSERT_TRUE(model) << files.messages;
      files.expectTrue(*model, call);
      if (want.values.empty())
        want = model->run(call, {.threads = 1});
      for (size_t threads : {1, 2, 3})
        expectSame(model->run(call, {.threads = threads}), want);
      for (size_t row = 0; row < call.rows.size(); ++row) {
        Call alone;
        alone.rows = {call.rows[row]};
        alone.seq = call.rows[row].length;
        Outputs got = model->run(alone);
        for (const auto &[name, info] : want.infos)
          if (info.kind == HEXAD_OUTPUT_ROWS)
            EXPECT_TRUE(areIdentical(got.getSequence(name, alone, 0),
                                     want.getSequence(name, call, row)))
                << name << " of row " << row;
      }
    }
  }

  static void expectSame(const Outputs &got, const Outputs &want) {
    ASSERT_EQ(got.values.size(), want.values.size());
    for (const auto &[name, values] : want.values)
      EXPECT_TRUE(areIdentical(got.values.at(name), values)) << name;
  }
};

TEST_P(WeightsTypes, Encoder) {
  ModelFiles files = getGolden("bert", {"hidden"});
  check(files, Call::of({61, 1, 0, 13, 2}));
}

/// The table of tokens is the head's matrix: it lies in panels.
TEST_P(WeightsTypes, TiedDecoder) {
  ModelFiles files = getGolden("gemma3");
  check(files, Call::of({29, 1, 3}));
}

TEST_P(WeightsTypes, Experts) {
  ModelFiles files(getExpertsText());
  check(files, Call::of({33, 0, 1, 70}));
}

/// The head's matrix is read by tiles of classes.
TEST_P(WeightsTypes, Loss) {
  ModelFiles files = getGolden("gpt2", {"loss"});
  check(files, Call::of({29, 1, 12}));
}

TEST_P(WeightsTypes, Images) {
  ModelFiles files = getGolden("vit");
  files.setWeightsType(GetParam());
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  size_t tokens = model->getInfo().getImageTokens();
  files.expectTrue(*model, Call::of({tokens, tokens}));
}

/// Token by token (several panels side by side) as all at once.
TEST_P(WeightsTypes, Sessions) {
  ModelFiles files = getGolden("gemma3");
  files.setWeightsType(GetParam());
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  Call call = Call::of({23});
  Floats want = model->run(call).values.at("logits");
  SessionLibrary library(*model);
  for (size_t threads : {1, 2})
    for (size_t piece : {1, 2, 3, 4, 5}) {
      ContextHandle context(
          *model, {.tokens = piece, .logits = piece, .threads = threads});
      SessionHandle session(library, {.capacity = 23});
      std::vector<int32_t> ids = call.getInput(model->getInfo().inputs.front());
      Floats got;
      for (size_t first = 0; first < ids.size(); first += piece) {
        size_t count = std::min(piece, ids.size() - first);
        Floats logits = session.extend(
            context, llvm::ArrayRef(ids).slice(first, count), HEXAD_ALL_LOGITS);
        got.insert(got.end(), logits.begin(), logits.end());
      }
      EXPECT_TRUE(areIdentical(got, want)) << piece << " at a time";
    }
}

INSTANTIATE_TEST_SUITE_P(Types, WeightsTypes,
                         testing::Values(WeightsType::BF16, WeightsType::F16),
                         [](const auto &info) {
                           return info.param == WeightsType::BF16 ? "BF16"
                                                                  : "F16";
                         });

/// Of a checkpoint of 16 bits the same bits come out, however the library holds
/// its weights; if nothing is said, in 16 bits.
TEST(StoredWeights, GiveTheBitsOfF32) {
  for (StoredType type : {StoredType::BF16, StoredType::F16}) {
    ModelFiles files(getEncoderText({.positionLimit = 100}), {}, type);
    std::unique_ptr<CompiledModel> narrow = files.compile();
    ASSERT_TRUE(narrow) << files.messages;
    files.setWeightsType(WeightsType::F32);
    std::unique_ptr<CompiledModel> wide = files.compile();
    ASSERT_TRUE(wide) << files.messages;
    EXPECT_LT(narrow->getInfo().weightsBytes,
              wide->getInfo().weightsBytes * 2 / 3);
    Call call = Call::of({57, 1, 13, 90});
    Outputs want = wide->run(call), got = narrow->run(call);
    for (const auto &[name, values] : want.values)
      EXPECT_TRUE(areIdentical(got.values.at(name), values)) << name;
  }
}

/// A checkpoint of f32 stays what it is.
TEST(StoredWeights, OfF32) {
  ModelFiles files(getEncoderText({}));
  files.setWeightsType(WeightsType::Stored);
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  uint64_t bytes = model->getInfo().weightsBytes;
  files.setWeightsType(WeightsType::F32);
  EXPECT_EQ(files.compile()->getInfo().weightsBytes, bytes);
}

TEST(NarrowWeights, MustFit) {
  ModelBuilder b;
  b.output(b.linear(b.embedWords(40), 20, false), "y");
  ModelFiles files(b.getText(), [](llvm::StringRef tensor, Floats &values) {
    if (tensor.starts_with("matrix"))
      values[123] = -70000;
  });
  files.setWeightsType(WeightsType::BF16);
  EXPECT_TRUE(files.compile()) << files.messages;
  files.setWeightsType(WeightsType::F16);
  EXPECT_FALSE(files.compile());
  EXPECT_NE(files.messages.find("expected elements that fit F16, found -70000 "
                                "in layer 0, tensor 'matrix"),
            std::string::npos)
      << files.messages;
}

} // namespace
