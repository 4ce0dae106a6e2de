//===- RandomTests.cpp - Models nobody would write ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random graphs of ops, always the same ones. HEXAD_E2E_SEEDS=FIRST-LAST runs
// others.
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include <random>

using namespace hexad::test;

namespace {

class RandomModel {
public:
  explicit RandomModel(unsigned seed) : random(seed) {}

  std::string make() {
    std::vector<Rows> values;
    for (int64_t i = 0, count = 1 + pick(2); i < count; ++i)
      values.push_back(pick(2) ? builder.embedWords(getWidth())
                               : builder.embedTypes(getWidth()));
    extend(values, 4 + pick(8), /*mayLoop=*/true);
    // What is not an output may be dead; the last value never is.
    unsigned outputs = 0;
    for (const Rows &value : values)
      if (&value == &values.back() || pick(6) == 0)
        builder.output(value, "y" + std::to_string(outputs++));
    return builder.getText();
  }

private:
  unsigned pick(unsigned count) { return random() % count; }
  template <typename T> T pickFrom(std::initializer_list<T> choices) {
    return *(choices.begin() + pick(choices.size()));
  }
  int64_t getWidth() {
    return pickFrom<int64_t>({1, 4, 16, 17, 24, 24, 33, 48});
  }

  Rows pickRows(const std::vector<Rows> &values, bool tokens = false) {
    for (;;) {
      // Mostly what was made last, so that chains grow.
      const Rows &value = pick(2) ? values.back() : values[pick(values.size())];
      if (!tokens || !value.pooled)
        return value;
      if (llvm::all_of(values, [](const Rows &rows) { return rows.pooled; }))
        return {};
    }
  }

  void extend(std::vector<Rows> &values, unsigned count, bool mayLoop) {
    for (unsigned i = 0; i < count; ++i)
      addOp(values, mayLoop);
  }

  void addOp(std::vector<Rows> &values, bool mayLoop) {
    Rows x = pickRows(values);
    switch (pick(mayLoop ? 12 : 10)) {
    case 0:
    case 1:
      values.push_back(builder.linear(x, getWidth(), pick(2)));
      return;
    case 2:
      values.push_back(
          builder.activation(pickFrom({"gelu", "gelu_tanh", "quick_gelu",
                                       "silu", "relu", "tanh", "sigmoid"}),
                             x));
      return;
    case 3:
    case 4: {
      // Of equal widths, made equal if there are none.
      std::vector<Rows> partners;
      for (const Rows &value : values)
        if (value.columns == x.columns && value.pooled == x.pooled)
          partners.push_back(value);
      Rows y = pick(2) ? partners[pick(partners.size())]
                       : builder.linear(x, x.columns);
      values.push_back(pick(2) ? builder.add(x, y) : builder.add(y, x));
      return;
    }
    case 5:
      // With one column the variance is 0, and 1 / √eps enlarges rounding.
      if (x.columns > 4)
        values.push_back(builder.layerNorm(x, pick(2), 1e-2));
      return;
    case 6:
      values.push_back(pick(2) ? builder.softmax(x)
                               : builder.l2Normalize(x, 1e-2));
      return;
    case 7:
    case 8: {
      Rows tokens = pickRows(values, /*tokens=*/true);
      if (tokens.name.empty())
        return;
      if (pick(2)) {
        int64_t headDim = pickFrom<int64_t>({1, 4, 12, 17});
        int64_t kvHeads = 1 + pick(2), heads = kvHeads * (1 + pick(3));
        Rows q = builder.linear(tokens, heads * headDim),
             k = builder.linear(tokens, kvHeads * headDim),
             v = builder.linear(tokens, kvHeads * headDim);
        values.push_back(builder.attention(q, k, v, {heads, kvHeads, headDim}));
      } else {
        values.push_back(
            builder.attention(tokens, tokens, tokens, {1, 1, tokens.columns}));
      }
      return;
    }
    case 9:
      if (!x.pooled)
        values.push_back(builder.pool(pick(2) ? "first" : "mean", x));
      return;
    default:
      addLoop(values);
    }
  }

  /// One to three values are carried; the body sees those outside as well.
  void addLoop(std::vector<Rows> &values) {
    std::vector<Rows> inits;
    for (unsigned i = 0, count = 1 + pick(3); i < count; ++i)
      inits.push_back(pickRows(values));
    std::vector<Rows> results =
        builder.repeat(1 + pick(3), inits, [&](const std::vector<Rows> &in) {
          std::vector<Rows> inner = values;
          llvm::append_range(inner, in);
          extend(inner, 1 + pick(6), /*mayLoop=*/false);
          std::vector<Rows> yields;
          for (const Rows &carried : in) {
            std::vector<Rows> fitting;
            for (const Rows &value : inner)
              if (value.columns == carried.columns &&
                  value.pooled == carried.pooled)
                fitting.push_back(value);
            yields.push_back(pick(4) ? fitting.back()
                                     : fitting[pick(fitting.size())]);
          }
          return yields;
        });
    llvm::append_range(values, results);
  }

  std::mt19937 random;
  ModelBuilder builder;
};

class Random : public testing::TestWithParam<unsigned> {};

TEST_P(Random, Right) {
  std::string text = RandomModel(GetParam()).make();
  ModelFiles files(text);
  const std::vector<std::string> cpus = getRunnableCpus();
  const std::string &cpu = cpus[GetParam() % cpus.size()];
  std::unique_ptr<CompiledModel> model = files.compile(cpu);
  ASSERT_TRUE(model) << files.messages << text;
  Call call = Call::of({13, 0, 70, 1});
  files.expectTrue(*model, call);
  if (HasFatalFailure())
    ADD_FAILURE() << cpu << "\n" << text;
  Outputs one = model->run(call, {.threads = 1});
  Outputs many = model->run(call.padLeft(), {.threads = 5});
  for (const auto &entry : one.values)
    for (size_t row = 0; row < call.rows.size(); ++row)
      EXPECT_TRUE(
          areIdentical(one.getSequence(entry.first, call, row),
                       many.getSequence(entry.first, call.padLeft(), row)))
          << entry.first << "\n"
          << text;
}

std::vector<unsigned> getSeeds() {
  unsigned first = 0, last = 15;
  if (const char *range = std::getenv("HEXAD_E2E_SEEDS")) {
    auto [begin, end] = llvm::StringRef(range).split('-');
    if (!llvm::to_integer(begin, first) || !llvm::to_integer(end, last))
      llvm::report_fatal_error("HEXAD_E2E_SEEDS: expected FIRST-LAST");
  }
  std::vector<unsigned> seeds;
  for (unsigned seed = first; seed <= last; ++seed)
    seeds.push_back(seed);
  return seeds;
}

INSTANTIATE_TEST_SUITE_P(, Random, testing::ValuesIn(getSeeds()));

} // namespace
