//===- ExpertFamiliesTest.cpp - Folders and YAML of experts ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderTest.h"

using namespace mlir;
using namespace hexad;

namespace {

constexpr llvm::StringLiteral expertKeys = R"(,
  "num_experts_per_tok": 2,
  "num_local_experts": 4)";
constexpr llvm::StringLiteral qwen3MoeKeys = R"(,
  "moe_intermediate_size": 5,
  "norm_topk_prob": true,
  "mlp_only_layers": [1])";

std::string makeMixtral(llvm::StringRef rest = expertKeys) {
  return makeConfig("MixtralForCausalLM", "mixtral", rest);
}
std::string makeQwen3Moe(llvm::StringRef rest = "",
                         llvm::StringRef keys = qwen3MoeKeys) {
  return makeConfig("Qwen3MoeForCausalLM", "qwen3_moe",
                    (expertKeys + keys + rest).str());
}

class ExpertFamilies : public DecoderTest {
protected:
  static constexpr int64_t experts = 4;

  /// The experts of a layer, under three names of their matrices.
  void addExperts(const std::string &layer, int64_t hidden,
                  std::array<llvm::StringRef, 3> matrices) {
    add(layer + ".gate.weight", {experts, 8});
    for (auto [index, name] : llvm::enumerate(matrices))
      for (int64_t e = 0; e < experts; ++e)
        add(layer + ".experts." + std::to_string(e) + "." + name.str() +
                ".weight",
            index == 2 ? llvm::SmallVector<int64_t, 4>{8, hidden}
                       : llvm::SmallVector<int64_t, 4>{hidden, 8});
  }
  void addMixtral() {
    addLlama({.feedForward = false});
    for (int64_t i = 0; i < 3; ++i)
      addExperts("model.layers." + std::to_string(i) + ".block_sparse_moe", 6,
                 {"w1", "w3", "w2"});
  }
  /// The middle layer is dense.
  void addQwen3Moe() {
    addLlama({.queryNorm = 4, .keyNorm = 4, .feedForward = false});
    for (int64_t i = 0; i < 3; ++i) {
      std::string layer = "model.layers." + std::to_string(i) + ".mlp";
      if (i == 1) {
        add(layer + ".gate_proj.weight", {6, 8});
        add(layer + ".up_proj.weight", {6, 8});
        add(layer + ".down_proj.weight", {8, 6});
      } else {
        addExperts(layer, 5, {"gate_proj", "up_proj", "down_proj"});
      }
    }
  }
  /// Takes a tensor away.
  void remove(llvm::StringRef name) {
    llvm::erase_if(tensors, [&](const TensorToWrite &tensor) {
      return tensor.name == name;
    });
  }
};

constexpr llvm::StringLiteral begin = R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
)";
constexpr llvm::StringLiteral end = R"(
  - linear: { name: head, out: 7 }
  - output: logits
)";

TEST_F(ExpertFamilies, MixtralIsItsDescription) {
  addMixtral();
  expectSame(makeMixtral(), "mixtral",
             begin.str() + R"(
    layers:
      - residual:
          - rms_norm: { name: attention_norm, eps: 1e-5 }
          - attention: { heads: 4, kv_heads: 2, head_dim: 4, causal: true, rope: { theta: 1e6 } }
      - residual:
          - rms_norm: { name: feed_forward_norm, eps: 1e-5 }
          - moe: { name: experts, experts: 4, hidden: 6, activation: silu, router: { top_k: 2, renormalize: true } }
  - rms_norm: { name: final_norm, eps: 1e-5 })" +
                 end.str());
}

/// The names of tensors are said, not known.
TEST_F(ExpertFamilies, Qwen3MoeIsItsDescription) {
  addQwen3Moe();
  std::string period;
  for (llvm::StringRef feedForward :
       {R"(moe:
                name: experts
                experts: 4
                hidden: 5
                activation: silu
                router: { top_k: 2, renormalize: true }
                tensors:
                  router: "model.layers.{i}.mlp.gate"
                  gate: "model.layers.{i}.mlp.experts.{e}.gate_proj"
                  up: "model.layers.{i}.mlp.experts.{e}.up_proj"
                  down: { weight: "model.layers.{i}.mlp.experts.{e}.down_proj.weight" })",
        "swiglu: { name: feed_forward, hidden: 6 }"})
    period += R"(
      - - residual:
            - rms_norm: { name: attention_norm, eps: 1e-6 }
            - attention: { heads: 4, kv_heads: 2, head_dim: 4, causal: true, qk_norm: { of: heads, eps: 1e-6 }, rope: { theta: 10000 } }
        - residual:
            - rms_norm: { name: feed_forward_norm, eps: 1e-6 }
            - )" +
              feedForward.str();
  expectSame(makeQwen3Moe(), "qwen3_moe",
             begin.str() + R"(
    period:)" + period +
                 R"(
  - rms_norm: { name: final_norm, eps: 1e-6 })" +
                 end.str());
}

TEST_F(ExpertFamilies, NumberOfExpertsHasTwoNames) {
  addQwen3Moe();
  std::string config = makeQwen3Moe();
  expectEqual(config, change("num_local_experts", "num_experts", config));
  expectEqual(config, makeQwen3Moe(",\n  \"num_experts\": 4"));
  expectConfigError(makeQwen3Moe(",\n  \"num_experts\": 5"), "17:3",
                    "expected num_experts to be 4 like num_local_experts, "
                    "found 5");
}

TEST_F(ExpertFamilies, LayersAreSparseBySteps) {
  addQwen3Moe();
  std::string config = makeQwen3Moe();
  // Steps of two leave the middle one sparse alone.
  std::string steps = makeQwen3Moe(
      "", ",\n  \"moe_intermediate_size\": 5,\n  \"decoder_sparse_step\": 2");
  expectConfigError(steps, "5:3",
                    "parameter @feed_forward.gate.weight.0: there is no tensor "
                    "'model.layers.0.mlp.gate_proj.weight'");
  expectEqual(makeQwen3Moe(",\n  \"decoder_sparse_step\": 1"), config);
  expectConfigError(change("[1]", "[1, 3]", config), "16:3",
                    "expected mlp_only_layers to hold numbers of layers, from "
                    "0 to 2, found 3");
  expectConfigError(change("[1]", "[\"1\"]", config), "16:3",
                    "from 0 to 2, found \"1\"");
  expectConfigError(change("[1]", "1", config), "16:3",
                    "expected mlp_only_layers to be a list of numbers of "
                    "layers, found 1");
  expectConfigError(makeQwen3Moe(",\n  \"decoder_sparse_step\": 0"), "17:3",
                    "an integer from 1 to 4096, found 0");
}

TEST_F(ExpertFamilies, KeysCount) {
  addQwen3Moe();
  std::string config = makeQwen3Moe();
  expectDifferent(config, change("\"norm_topk_prob\": true",
                                 "\"norm_topk_prob\": false", config));
  // The weights of the chosen ones are as they are unless something is said.
  expectEqual(
      change("\"norm_topk_prob\": true", "\"norm_topk_prob\": false", config),
      change("\"norm_topk_prob\": true,", "", config));
  expectDifferent(config, change("\"num_experts_per_tok\": 2",
                                 "\"num_experts_per_tok\": 3", config));
  // A window in all layers or none.
  expectEqual(config, makeQwen3Moe(R"(, "sliding_window": 5,
      "use_sliding_window": false, "max_window_layers": 1)"));
  expectDifferent(config, makeQwen3Moe(R"(, "sliding_window": 5,
      "use_sliding_window": true)"));
  // Those of training.
  expectEqual(config, makeQwen3Moe(R"(, "output_router_logits": true,
      "router_aux_loss_coef": 0.5)"));
  expectConfigError(makeQwen3Moe(",\n  \"n_group\": 2"), "17:3",
                    "unknown key 'n_group'");
}

TEST_F(ExpertFamilies, MixtralHasAWindowIfOneIsGiven) {
  addMixtral();
  std::string config = makeMixtral();
  expectEqual(config, makeMixtral((expertKeys + ", \"sliding_window\": null, "
                                                "\"router_jitter_noise\": 0.5")
                                      .str()));
  expectDifferent(config,
                  makeMixtral((expertKeys + ", \"sliding_window\": 5").str()));
  EXPECT_EQ(printFolder(config).find("window"), std::string::npos);
}

TEST_F(ExpertFamilies, RefusesNumbersOfExperts) {
  addMixtral();
  std::string config = makeMixtral();
  expectConfigError(change("\"num_experts_per_tok\": 2",
                           "\"num_experts_per_tok\": 5", config),
                    "12:3",
                    "expected num_experts_per_tok to be at most the number of "
                    "experts, 4, found 5");
  expectConfigError(change("\"num_experts_per_tok\": 2",
                           "\"num_experts_per_tok\": 0", config),
                    "12:3", "an integer from 1 to 131072, found 0");
  for (llvm::StringRef number : {"0", "-4", "131073", "4.5", "\"4\""})
    expectConfigError(change("\"num_local_experts\": 4",
                             ("\"num_local_experts\": " + number).str(),
                             config),
                      "13:3", "an integer from 1 to 131072, found");
  expectConfigError(change("\"num_local_experts\": 4",
                           "\"num_local_experts\": 50000", config),
                    "12:3",
                    "expected at most 131072 experts in all layers of a kind, "
                    "found 50000 in each of 3");
  // Eight of which two are chosen, if nothing is said.
  expectConfigError(
      makeMixtral(""), "1:1",
      "parameter @experts.router.weight: expected layers of shape "
      "[8, 8], found [4, 8]");
}

TEST_F(ExpertFamilies, RefusesMissingExperts) {
  addMixtral();
  remove("model.layers.1.block_sparse_moe.experts.3.w3.weight");
  expectConfigError(makeMixtral(), "12:3",
                    "parameter @experts.up.weight: there is no tensor 'model."
                    "layers.1.block_sparse_moe.experts.3.w3.weight' in "
                    "model.safetensors");
  remove("model.layers.0.block_sparse_moe.gate.weight");
  expectConfigError(makeMixtral(), "12:3",
                    "there is no tensor 'model.layers.0.block_sparse_moe.gate."
                    "weight'");
}

TEST_F(ExpertFamilies, RefusesExpertsOfOtherShapes) {
  addMixtral();
  std::string name = "model.layers.2.block_sparse_moe.experts.1.w2.weight";
  remove(name);
  add(name, {8, 7});
  expectConfigError(makeMixtral(), "12:3",
                    "tensor '" + name + "' of shape [8, 7] does not go with");
}

/// The router says that there are four.
TEST_F(ExpertFamilies, RefusesFewerExpertsThanRouted) {
  addMixtral();
  expectConfigError(change("\"num_local_experts\": 4",
                           "\"num_local_experts\": 3", makeMixtral()),
                    "12:3", "expected layers of shape [3, 8], found [4, 8]");
}

/// All experts of a layer in one tensor, gate rows first.
TEST_F(ExpertFamilies, ReadsFusedExperts) {
  addLlama({.queryNorm = 4, .keyNorm = 4, .feedForward = false});
  for (int64_t i = 0; i < 3; ++i) {
    std::string layer = "model.layers." + std::to_string(i) + ".mlp.";
    add(layer + "gate.weight", {4, 8});
    add(layer + "experts.gate_up_proj", {4, 10, 8});
    add(layer + "experts.down_proj", {4, 8, 5});
  }
  std::string text =
      printFolder(makeQwen3Moe("", ",\n  \"moe_intermediate_size\": 5"));
  for (llvm::StringRef part :
       {"@experts.gate.weight : tensor<12x5x8xf32> from \"model.safetensors\" "
        "[\"model.layers.0.mlp.experts.gate_up_proj\", "
        "\"model.layers.1.mlp.experts.gate_up_proj\", "
        "\"model.layers.2.mlp.experts.gate_up_proj\"] {layers = 12 : i64, "
        "members = 4 : i64, picks = [array<i64: 0, 5, 5, 1>]}",
        "@experts.up.weight : tensor<12x5x8xf32>",
        "picks = [array<i64: 5, 5, 5, 1>]",
        "@experts.down.weight : tensor<12x8x5xf32>"})
    EXPECT_NE(text.find(part), std::string::npos) << part.str() << text;
}

} // namespace
