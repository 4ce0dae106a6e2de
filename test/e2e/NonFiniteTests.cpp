//===- NonFiniteTests.cpp - NaN, infinity and large numbers ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include <cmath>
#include <limits>

using namespace hexad::test;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

bool hasNan(const Floats &values) {
  return std::any_of(values.begin(), values.end(),
                     [](float value) { return std::isnan(value); });
}
bool isAllNan(const Floats &values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isnan(value); });
}

/// Two sequences of one encoder; the entry for the first id of the first
/// sequence is spoilt.
class Spoilt : public testing::TestWithParam<float> {};

TEST_P(Spoilt, EmbeddingReachesItsSequenceOnly) {
  EncoderShape shape;
  shape.layers = 1;
  Call call = Call::of({70, 1, 13});
  std::vector<int32_t> ids = call.getIds("input_ids", ModelBuilder::idLimit);
  int32_t spoilt = ids[0];
  // Is it in the other sequences?
  for (size_t row : {1, 2})
    for (size_t i = 0; i < call.rows[row].length; ++i)
      ASSERT_NE(ids[row * call.seq + i], spoilt) << "choose other seeds";
  std::string table;
  ModelFiles files(
      getEncoderText(shape), [&](llvm::StringRef name, Floats &values) {
        if (name.starts_with("table") && values.size() == 97u * 64 &&
            (table.empty() || table == name)) {
          table = name.str();
          values[spoilt * 64 + 5] = GetParam();
        }
      });
  ASSERT_FALSE(table.empty());
  ModelFiles whole(getEncoderText(shape));
  for (const std::string &cpu : getRunnableCpus()) {
    SCOPED_TRACE(cpu);
    std::unique_ptr<CompiledModel> model = files.compile(cpu);
    std::unique_ptr<CompiledModel> sane = whole.compile(cpu);
    ASSERT_TRUE(model && sane);
    Outputs got = model->run(call), want = sane->run(call);
    for (const char *name : {"last_hidden_state", "pooled"}) {
      // Keys and values of all tokens have part in each.
      EXPECT_TRUE(isAllNan(got.getSequence(name, call, 0))) << name;
      for (size_t row : {1, 2})
        EXPECT_TRUE(areIdentical(got.getSequence(name, call, row),
                                 want.getSequence(name, call, row)))
            << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Spoilt, testing::Values(nan, infinity, -infinity),
                         [](const auto &info) {
                           return std::isnan(info.param) ? "Nan"
                                  : info.param > 0       ? "Infinity"
                                                         : "MinusInfinity";
                         });

TEST(NonFinite, OneColumnOfALinear) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  Rows y = b.linear(x, 37);
  b.output(y, "y");
  b.output(b.activation("relu", y), "relu");
  b.output(b.linear(x, 5), "z");
  // Row 30 of the matrix makes column 30.
  ModelFiles files(b.getText(), [](llvm::StringRef name, Floats &values) {
    if (name.starts_with("matrix") && values.size() == 37 * 20)
      values[30 * 20 + 19] = nan;
  });
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> model = files.compile(cpu);
    ASSERT_TRUE(model) << files.messages;
    Outputs got = model->run(Call::of({13, 2}));
    for (const char *name : {"y", "relu"})
      for (size_t i = 0; i < got.values[name].size(); ++i) {
        bool real = i / 37 < 13 + 2;
        bool isNan = std::isnan(got.values[name][i]);
        EXPECT_EQ(isNan, real && i % 37 == 30) << name << " " << i;
      }
    EXPECT_FALSE(hasNan(got.values["z"]));
  }
}

TEST(NonFinite, BiasReachesEveryRow) {
  ModelBuilder b;
  b.output(b.linear(b.embedWords(20), 37), "y");
  ModelFiles files(b.getText(), [](llvm::StringRef name, Floats &values) {
    if (name.starts_with("bias"))
      values[36] = infinity;
  });
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  Outputs got = model->run(Call::of({13}));
  for (size_t i = 0; i < got.values["y"].size(); ++i)
    EXPECT_EQ(got.values["y"][i] == infinity, i % 37 == 36) << i;
}

/// Scores up to about ±10⁴ · √headDim: softmax is nearly a choice of the
/// largest, and exp of a score itself would be infinite. What is compared is
/// that nothing overflows; where two scores are nearly equal, float32 cannot
/// decide as float64 does.
TEST(NonFinite, HugeScoresDoNotOverflow) {
  for (double scale : {1e4, -1e4, 1e8}) {
    ModelBuilder b;
    Rows x = b.embedWords(48);
    b.output(b.attention(b.linear(x, 48), b.linear(x, 48), x,
                         {4, 4, 12, 0, 0, 0, scale}),
             "y");
    ModelFiles files(b.getText());
    for (const std::string &cpu : getRunnableCpus()) {
      std::unique_ptr<CompiledModel> model = files.compile(cpu);
      ASSERT_TRUE(model) << files.messages;
      Outputs got = model->run(Call::of({200, 3}));
      for (float value : got.values["y"]) {
        ASSERT_TRUE(std::isfinite(value)) << scale;
        // A mean of values, none of which is larger than 6.
        ASSERT_LE(std::abs(value), 6.0f) << scale;
      }
    }
  }
}

TEST(NonFinite, LargeLogitsOfSoftmax) {
  ModelBuilder b;
  Rows x = b.linear(b.embedWords(48), 17);
  b.output(b.softmax(x), "y");
  ModelFiles files(b.getText(), [](llvm::StringRef name, Floats &values) {
    if (name.starts_with("matrix"))
      for (float &value : values)
        value *= 1e30f;
  });
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  Outputs got = model->run(Call::of({13}));
  for (size_t row = 0; row < 13; ++row) {
    float sum = 0;
    for (size_t i = 0; i < 17; ++i)
      sum += got.values["y"][row * 17 + i];
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(NonFinite, ActivationsAtTheirLimits) {
  ModelBuilder b;
  Rows x = b.embedWords(16);
  for (const char *kind :
       {"gelu", "gelu_tanh", "quick_gelu", "silu", "relu", "tanh", "sigmoid"})
    b.output(b.activation(kind, x), kind);
  for (float extreme : {infinity, -infinity, 3e38f, -3e38f, -0.0f}) {
    ModelFiles files(b.getText(), [&](llvm::StringRef name, Floats &values) {
      if (name.starts_with("table"))
        for (float &value : values)
          value = extreme;
    });
    std::unique_ptr<CompiledModel> model = files.compile();
    ASSERT_TRUE(model) << files.messages;
    Outputs got = model->run(Call::of({2}));
    for (const auto &[name, values] : got.values) {
      float want = extreme > 0 ? extreme : 0;
      if (name == "tanh")
        want = extreme > 0 ? 1 : extreme < 0 ? -1 : 0;
      if (name == "sigmoid")
        want = extreme > 0 ? 1 : extreme < 0 ? 0 : 0.5f;
      for (float value : values)
        ASSERT_EQ(value, want) << name << " of " << extreme;
    }
  }
}

} // namespace
