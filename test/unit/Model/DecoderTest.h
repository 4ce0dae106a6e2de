//===- DecoderTest.h - Folders of language models for tests -----*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_MODEL_DECODERTEST_H
#define HEXAD_TEST_UNIT_MODEL_DECODERTEST_H

#include "FolderTest.h"

namespace hexad {

/// What all models of these tests have; `head_dim` is not hidden by heads.
inline constexpr llvm::StringLiteral sizes = R"(
  "hidden_size": 8,
  "intermediate_size": 6,
  "max_position_embeddings": 64,
  "num_attention_heads": 4,
  "num_hidden_layers": 3,
  "vocab_size": 7)";
inline constexpr llvm::StringLiteral grouped = R"(,
  "head_dim": 4,
  "num_key_value_heads": 2)";

/// A configuration: architecture and type, the sizes, other keys.
inline std::string makeConfig(llvm::StringRef architecture,
                              llvm::StringRef type, llvm::StringRef rest,
                              bool isGrouped = true) {
  return ("{\n  \"architectures\": [\"" + architecture +
          "\"],\n  \"model_type\": \"" + type + "\"," + sizes +
          (isGrouped ? grouped : "") + rest + "\n}\n")
      .str();
}

class DecoderTest : public FolderTest {
protected:
  struct Shape {
    std::vector<std::string> norms = {"input_layernorm",
                                      "post_attention_layernorm"};
    int64_t headDim = 4, kvHeads = 2;
    int64_t queryNorm = 0, keyNorm = 0;
    bool queryBias = false, outputBias = false, feedForwardBias = false;
    bool head = true;
    bool feedForward = true;
  };
  /// The tensors of a model like llama.
  void addLlama(const Shape &shape, const std::string &prefix = "model.") {
    auto addLinear = [&](std::string name, int64_t out, int64_t in, bool bias) {
      add(name + ".weight", {out, in});
      if (bias)
        add(name + ".bias", {out});
    };
    int64_t query = 4 * shape.headDim, key = shape.kvHeads * shape.headDim;
    add(prefix + "embed_tokens.weight", {7, 8});
    for (int64_t i = 0; i < 3; ++i) {
      std::string layer = prefix + "layers." + std::to_string(i) + ".";
      std::string attention = layer + "self_attn.";
      addLinear(attention + "q_proj", query, 8, shape.queryBias);
      addLinear(attention + "k_proj", key, 8, shape.queryBias);
      addLinear(attention + "v_proj", key, 8, shape.queryBias);
      addLinear(attention + "o_proj", 8, query, shape.outputBias);
      if (shape.feedForward) {
        addLinear(layer + "mlp.gate_proj", 6, 8, shape.feedForwardBias);
        addLinear(layer + "mlp.up_proj", 6, 8, shape.feedForwardBias);
        addLinear(layer + "mlp.down_proj", 8, 6, shape.feedForwardBias);
      }
      if (shape.queryNorm) {
        add(attention + "q_norm.weight", {shape.queryNorm});
        add(attention + "k_norm.weight", {shape.keyNorm});
      }
      for (const std::string &norm : shape.norms)
        add(layer + norm + ".weight", {8});
    }
    add(prefix + "norm.weight", {8});
    if (shape.head)
      add("lm_head.weight", {7, 8});
  }
  void addGemma() {
    addLlama(
        {.norms = {"input_layernorm", "post_attention_layernorm",
                   "pre_feedforward_layernorm", "post_feedforward_layernorm"},
         .queryNorm = 4,
         .keyNorm = 4,
         .head = false});
  }
  void addPair(const std::string &name, int64_t rows, int64_t columns) {
    add(name + ".weight", {rows, columns});
    add(name + ".bias",
        {name.find("c_") != std::string::npos ? columns : rows});
  }
  void addNorm(const std::string &name) {
    add(name + ".weight", {8});
    add(name + ".bias", {8});
  }
  void addGpt2(const std::string &prefix = "transformer.") {
    add(prefix + "wte.weight", {7, 8});
    add(prefix + "wpe.weight", {64, 8});
    for (int64_t i = 0; i < 3; ++i) {
      std::string layer = prefix + "h." + std::to_string(i) + ".";
      addNorm(layer + "ln_1");
      addPair(layer + "attn.c_attn", 8, 24);
      addPair(layer + "attn.c_proj", 8, 8);
      addNorm(layer + "ln_2");
      addPair(layer + "mlp.c_fc", 8, 32);
      addPair(layer + "mlp.c_proj", 32, 8);
    }
    addNorm(prefix + "ln_f");
  }
  void addGptNeox() {
    add("gpt_neox.embed_in.weight", {7, 8});
    for (int64_t i = 0; i < 3; ++i) {
      std::string layer = "gpt_neox.layers." + std::to_string(i) + ".";
      addNorm(layer + "input_layernorm");
      addPair(layer + "attention.query_key_value", 24, 8);
      addPair(layer + "attention.dense", 8, 8);
      addNorm(layer + "post_attention_layernorm");
      addPair(layer + "mlp.dense_h_to_4h", 6, 8);
      addPair(layer + "mlp.dense_4h_to_h", 8, 6);
    }
    addNorm("gpt_neox.final_layer_norm");
    add("embed_out.weight", {7, 8});
  }

  /// The IR of a folder that is read without a word.
  std::string printFolder(llvm::StringRef config) {
    std::vector<std::string> outputs = {"hidden"};
    mlir::OwningOpRef<mlir::ModuleOp> module = readFolder(config, outputs);
    EXPECT_TRUE(module) << diagnostics << config.str();
    EXPECT_EQ(diagnostics, "");
    return module ? print(*module) : "";
  }
  /// Expects equal IR and weights of the folder and a description of it.
  void expectSame(llvm::StringRef config, llvm::StringRef family,
                  llvm::StringRef layers) {
    fill();
    std::vector<std::string> outputs = {"hidden"};
    mlir::OwningOpRef<mlir::ModuleOp> fromFolder = readFolder(config, outputs);
    ASSERT_TRUE(fromFolder) << diagnostics;
    std::string yaml = folder.write(
        "model.yaml", ("name: " + fromFolder->getSymName()->str() +
                       R"(
inputs:
  input_ids: "i32[batch, seq]"
  attention_mask: { type: "i32[batch, seq]", mask: true, optional: true }
weights: { file: model.safetensors, names: )" +
                       family.str() + " }\nhidden_after_norm: true\nlayers:\n" +
                       layers.str()));
    mlir::OwningOpRef<mlir::ModuleOp> fromYaml = read(yaml, outputs);
    ASSERT_TRUE(fromYaml) << diagnostics;
    EXPECT_EQ(diagnostics, "");
    EXPECT_EQ(print(*fromFolder), print(*fromYaml));
    std::string weights = writeWeights(*fromFolder, folder.getPath());
    EXPECT_GT(weights.size(), 1000u);
    EXPECT_TRUE(weights == writeWeights(*fromYaml, folder.getPath()));
  }
  void expectEqual(llvm::StringRef one, llvm::StringRef other) {
    std::string text = printFolder(one);
    EXPECT_NE(text, "");
    EXPECT_EQ(text, printFolder(other));
  }
  void expectDifferent(llvm::StringRef one, llvm::StringRef other) {
    EXPECT_NE(printFolder(one), printFolder(other)) << one.str();
  }
};

inline std::string makeLlama(llvm::StringRef rest = "") {
  return makeConfig("LlamaForCausalLM", "llama", rest);
}
inline std::string makeGemma(llvm::StringRef rest = "") {
  return makeConfig("Gemma3ForCausalLM", "gemma3_text",
                    ",\n  \"sliding_window\": 5" + rest.str());
}
inline std::string makeGptNeox(llvm::StringRef rest = "") {
  return makeConfig("GPTNeoXForCausalLM", "gpt_neox", rest,
                    /*isGrouped=*/false);
}
inline std::string makeGpt2(llvm::StringRef rest = "",
                            llvm::StringRef architecture = "GPT2LMHeadModel") {
  return ("{\"architectures\": [\"" + architecture +
          "\"],\n  \"model_type\": \"gpt2\",\n  \"n_embd\": 8, \"n_head\": 4, "
          "\"n_layer\": 3, \"n_positions\": 64, \"vocab_size\": 7" +
          rest + "}")
      .str();
}

} // namespace hexad

#endif // HEXAD_TEST_UNIT_MODEL_DECODERTEST_H
