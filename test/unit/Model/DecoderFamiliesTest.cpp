//===- DecoderFamiliesTest.cpp - Folders of language models ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderTest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hexad;

namespace {

class DecoderFamilies : public DecoderTest {};

//===----------------------------------------------------------------------===//
// Rotary embeddings
//===----------------------------------------------------------------------===//

TEST_F(DecoderFamilies, RopeHasTwoSpellings) {
  addLlama({});
  std::string plain = makeLlama();
  std::string previous = printFolder(plain);
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> spellings[] = {
      {R"(, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4})",
       R"(, "rope_theta": 10000, "rope_scaling": null)"},
      {R"(, "rope_parameters": {"rope_type": "default", "rope_theta": 2e4})",
       R"(, "rope_theta": 20000)"},
      {R"(, "rope_parameters":
            {"rope_type": "linear", "factor": 4.0, "rope_theta": 2e4})",
       R"(, "rope_theta": 2e4, "rope_scaling": {"type": "linear", "factor": 4})"},
      {R"(, "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5,
            "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
            "original_max_position_embeddings": 16})",
       R"(, "rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3",
            "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
            "original_max_position_embeddings": 16})"},
      {R"(, "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4,
            "factor": 4, "original_max_position_embeddings": 16})",
       R"(, "rope_scaling": {"type": "yarn", "rope_type": "yarn",
            "original_max_position_embeddings": 16})"},
  };
  for (auto [index, spelling] : llvm::enumerate(spellings)) {
    expectEqual(makeLlama(spelling.first), makeLlama(spelling.second));
    std::string text = printFolder(makeLlama(spelling.first));
    // The first one is the default.
    EXPECT_EQ(text == previous, index == 0) << spelling.first.str();
    previous = text;
  }
}

TEST_F(DecoderFamilies, YarnHasOptions) {
  addLlama({});
  auto yarn = [](llvm::StringRef rest = "") {
    return makeLlama(
        (", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4" + rest + "}")
            .str());
  };
  std::string plain = yarn();
  expectEqual(plain, yarn(", \"original_max_position_embeddings\": 64"));
  expectEqual(plain, yarn(", \"beta_fast\": 32, \"beta_slow\": 1, "
                          "\"truncate\": true, \"attention_factor\": null"));
  // 0.1·ln(4) + 1 by itself.
  expectDifferent(plain, yarn(", \"attention_factor\": 1.5"));
  expectEqual(yarn(", \"mscale\": 0.7, \"mscale_all_dim\": 0.7"),
              yarn(", \"attention_factor\": 1"));
  expectDifferent(plain, yarn(", \"original_max_position_embeddings\": 2048"));
}

TEST_F(DecoderFamilies, RefusesRopes) {
  addLlama({});
  auto rope = [](llvm::StringRef rest) {
    return makeLlama((",\n  \"rope_parameters\": {\n    " + rest + "}").str());
  };
  constexpr llvm::StringLiteral kinds = "to be one of default, linear, llama3, "
                                        "yarn, proportional, found \"dynamic\"";
  expectConfigError(rope("\"rope_type\": \"dynamic\""), "13:5", kinds);
  expectConfigError(makeLlama(",\n  \"rope_scaling\": {\"type\": \"dynamic\"}"),
                    "12:20", kinds);
  expectConfigError(rope("\"mrope_section\": [1]"), "13:5",
                    "unknown key 'rope_parameters.mrope_section'");
  expectConfigError(rope("\"rope_type\": \"linear\""), "12:3",
                    "expected rope_parameters.factor to be a number of more "
                    "than 0, but the key is missing");
  expectConfigError(rope("\"factor\": 0, \"rope_type\": \"linear\""), "13:5",
                    "a number of more than 0, found 0");
  expectConfigError(rope("\"rope_theta\": -1"), "13:5",
                    "expected rope_parameters.rope_theta to be a number of "
                    "more than 0, found -1");
  expectConfigError(rope("\"rope_type\": \"llama3\", \"factor\": 2"), "12:3",
                    "expected rope_parameters.low_freq_factor");
  expectConfigError(
      rope("\"rope_type\": \"llama3\", \"factor\": 2, \"low_freq_factor\": 4, "
           "\"high_freq_factor\": 4,\n    "
           "\"original_max_position_embeddings\": 9"),
      "13:63", "more than low_freq_factor");
  expectConfigError(rope("\"rope_type\": \"yarn\", \"type\": \"linear\""),
                    "13:26",
                    "expected rope_parameters.type to be 'yarn' like "
                    "rope_type, found \"linear\"");
  expectConfigError(rope("\"partial_rotary_factor\": 0.5"), "13:5",
                    "expected rope_parameters.partial_rotary_factor to be 1");
  expectConfigError(rope("\"rope_theta\": 1"
                         "},\n  \"rope_scaling\": {\"type\": \"default\""),
                    "14:3", "absent beside rope_parameters");
  expectConfigError(rope("\"rope_theta\": 1},\n  \"rope_theta\": 2, \"top_k\": "
                         "{"),
                    "13:5", "to be 2, which another key gives, found 1");
  expectConfigError(makeLlama(", \"rope_scaling\": 2"), "",
                    "expected rope_scaling to be an object, found 2");
  expectConfigError(change("head_dim\": 4", "head_dim\": 3", makeLlama()),
                    "10:3",
                    "expected an even number of columns of a head to "
                    "turn, found 3 of 3");
}

//===----------------------------------------------------------------------===//
// Models like llama
//===----------------------------------------------------------------------===//

TEST_F(DecoderFamilies, SizesHaveDefaults) {
  addLlama({.headDim = 2, .kvHeads = 4});
  auto config = [](llvm::StringRef rest) {
    return makeConfig("LlamaForCausalLM", "llama", rest, /*isGrouped=*/false);
  };
  expectEqual(config(", \"head_dim\": 2, \"num_key_value_heads\": 4"),
              config(", \"head_dim\": null, \"num_key_value_heads\": null"));
  expectEqual(config(""),
              config(", \"rms_norm_eps\": 1e-6, \"hidden_act\": \"silu\", "
                     "\"attention_bias\": false, \"mlp_bias\": false, "
                     "\"tie_word_embeddings\": false, \"pretraining_tp\": 1, "
                     "\"use_cache\": true"));
}

TEST_F(DecoderFamilies, RefusesSizes) {
  addLlama({});
  std::string good = makeLlama();
  expectConfigError(change("value_heads\": 2", "value_heads\": 3", good),
                    "11:3",
                    "expected num_key_value_heads to divide "
                    "num_attention_heads 4, found 3");
  expectConfigError(
      change(grouped, "", change("heads\": 4", "heads\": 3", good)), "7:3",
      "expected num_attention_heads to divide "
      "hidden_size 8, found 3");
  expectConfigError(change("value_heads\": 2", "value_heads\": 4", good), "7:3",
                    "expected layers of shape [16, 8], found [8, 8]");
  expectConfigError(change("layers\": 3", "layers\": 0", good), "8:3",
                    "expected num_hidden_layers to be an integer from 1");
  expectConfigError(makeLlama(", \"sliding_window\": 4"), "",
                    "unknown key 'sliding_window'");
  expectConfigError(makeLlama(", \"quantization_config\": {}"), "",
                    "unknown key 'quantization_config'");
  expectConfigError(
      change("LlamaForCausalLM", "LlamaForSequenceClassification", good), "2:3",
      "LlamaForCausalLM, LlamaModel, found "
      "'LlamaForSequenceClassification'");
}

TEST_F(DecoderFamilies, BiasesAreThoseOfTheModel) {
  addLlama({.queryBias = true, .outputBias = true, .feedForwardBias = true});
  std::string text =
      printFolder(makeLlama(", \"attention_bias\": true, \"mlp_bias\": true"));
  for (llvm::StringRef name : {"q_proj", "k_proj", "v_proj", "o_proj",
                               "gate_proj", "up_proj", "down_proj"})
    EXPECT_TRUE(llvm::StringRef(text).contains((name + ".bias").str()));

  // qwen2 has three, whatever is said.
  tensors.clear();
  addLlama({.queryBias = true});
  std::string qwen = makeConfig("Qwen2ForCausalLM", "qwen2", "");
  text = printFolder(qwen);
  EXPECT_TRUE(llvm::StringRef(text).contains("v_proj.bias"));
  EXPECT_FALSE(llvm::StringRef(text).contains("o_proj.bias"));
  for (llvm::StringRef said : {"true", "false"})
    expectEqual(qwen, makeConfig("Qwen2ForCausalLM", "qwen2",
                                 (", \"attention_bias\": " + said).str()));

  tensors.clear();
  addLlama({});
  expectConfigError(makeConfig("MistralForCausalLM", "mistral",
                               ", \"attention_bias\": false"),
                    "", "unknown key 'attention_bias'");
}

TEST_F(DecoderFamilies, HeadsAreTied) {
  addLlama({.head = false});
  std::string tied = makeLlama(", \"tie_word_embeddings\": true");
  EXPECT_TRUE(llvm::StringRef(printFolder(tied)).contains(", %words.weight_"))
      << printFolder(tied);
  expectConfigError(makeLlama(), "2:3", "there is no tensor 'lm_head.weight'");
  // Stored as well, once equal and once not.
  add("lm_head.weight", {7, 8});
  printFolder(tied);
  std::vector<uint8_t> ones(7 * 8 * 4, 1);
  tensors.back().bytes = ones;
  expectConfigError(tied, "2:3",
                    "'lm_head.weight' differs from "
                    "'model.embed_tokens.weight'");
}

TEST_F(DecoderFamilies, BaseModelsHaveNoHead) {
  addLlama({.head = false}, /*prefix=*/"");
  add("layers.0.self_attn.rotary_emb.inv_freq", {2});
  std::string text = printFolder(makeConfig("LlamaModel", "llama", ""));
  EXPECT_TRUE(llvm::StringRef(text).contains(
      "tensor<?x?x8xf32> {hexad.name = \"last_hidden_state\"}"));
  EXPECT_FALSE(llvm::StringRef(text).contains("@head"));
}

TEST_F(DecoderFamilies, NormsStandWhereTheModelHasThem) {
  addLlama({.norms = {"post_attention_layernorm", "post_feedforward_layernorm"},
            .queryNorm = 16,
            .keyNorm = 8});
  std::string printed =
      printFolder(makeConfig("Olmo2ForCausalLM", "olmo2", ""));
  llvm::StringRef text = printed;
  EXPECT_FALSE(text.contains("@attention_norm"));
  EXPECT_TRUE(text.contains("@attention_output_norm.weight"));
  EXPECT_TRUE(text.contains("@feed_forward_output_norm.weight"));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST_F(DecoderFamilies, MistralHasAWindowUnlessItIsNull) {
  addLlama({});
  auto config = [](llvm::StringRef window) {
    return makeConfig("MistralForCausalLM", "mistral", window);
  };
  std::string none = printFolder(config(", \"sliding_window\": null"));
  EXPECT_FALSE(llvm::StringRef(none).contains("window"));
  std::string text = printFolder(config(", \"sliding_window\": 5"));
  EXPECT_TRUE(llvm::StringRef(text).contains("window = 5"));
  expectEqual(config(""), config(", \"sliding_window\": 4096"));
  expectConfigError(config(",\n  \"sliding_window\": 0"), "12:3",
                    "expected sliding_window to be an integer from 1 to "
                    "2147483647, found 0");
}

TEST_F(DecoderFamilies, QwenHasAWindowIfItIsUsed) {
  addLlama({.queryBias = true});
  auto config = [](llvm::StringRef rest) {
    return makeConfig("Qwen2ForCausalLM", "qwen2", rest);
  };
  // Of layers in a period: each has it in its attention and in its cache.
  auto countWindows = [&](llvm::StringRef rest) {
    return llvm::StringRef(printFolder(config(rest))).count("window = 5") / 2.0;
  };
  std::string size = ", \"sliding_window\": 5";
  std::string used = size + ", \"use_sliding_window\": true";
  EXPECT_EQ(countWindows(size + ", \"max_window_layers\": 0"), 0);
  EXPECT_EQ(countWindows(used), 0);
  EXPECT_EQ(countWindows(used + ", \"max_window_layers\": 0"), 1);
  // No shorter period than full, sliding, sliding.
  EXPECT_EQ(countWindows(used + ", \"max_window_layers\": 1"), 2);
  std::string types = R"(, "max_window_layers": 0, "layer_types":
      ["full_attention", "full_attention", "sliding_attention"])";
  EXPECT_EQ(countWindows(used + types), 1);
  expectConfigError(config(size + types), "1:1",
                    "expected use_sliding_window to be true: there are layers "
                    "with a window");
  expectConfigError(
      config(", \"use_sliding_window\": true,\n  \"sliding_window\": null" +
             types),
      "12:3",
      "expected sliding_window to be a number: there are layers with "
      "a window, found null");
  expectConfigError(config(",\n  \"layer_types\": [\"full_attention\"]"),
                    "12:3", "expected layer_types to be a list of 3 names");
  expectConfigError(
      config(",\n  \"layer_types\": [\"full_attention\", \"linear\", 1]"),
      "12:3", "\"full_attention\" and \"sliding_attention\", found \"linear\"");
}

//===----------------------------------------------------------------------===//
// gemma3
//===----------------------------------------------------------------------===//

TEST_F(DecoderFamilies, GemmaHasTwoSpellings) {
  addGemma();
  std::string pattern = ", \"sliding_window_pattern\": 2";
  std::string types = R"(, "layer_types":
      ["sliding_attention", "full_attention", "sliding_attention"])";
  expectEqual(makeGemma(types), makeGemma(pattern));
  expectEqual(makeGemma(types), makeGemma(", \"_sliding_window_pattern\": 2"));
  // The list counts.
  expectEqual(makeGemma(types), makeGemma(types + ", \"_sliding_window_"
                                                  "pattern\": 6"));
  expectDifferent(makeGemma(types), makeGemma());

  std::string old = types + R"(, "rope_theta": 3e6, "rope_local_base_freq": 2e4,
      "rope_scaling": {"rope_type": "linear", "factor": 8})";
  expectEqual(makeGemma(old), makeGemma(types + R"(, "rope_parameters": {
      "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 3e6},
      "sliding_attention": {"rope_theta": 2e4, "rope_type": "default"}})"));
  expectEqual(makeGemma(), makeGemma(R"(, "rope_theta": 1e6,
      "rope_local_base_freq": 1e4, "query_pre_attn_scalar": 256,
      "hidden_activation": "gelu_pytorch_tanh", "attention_bias": false,
      "tie_word_embeddings": true, "attn_logit_softcapping": null)"));
}

TEST_F(DecoderFamilies, GemmaScalesAndCaps) {
  addGemma();
  std::string printed = printFolder(
      makeGemma(R"(, "query_pre_attn_scalar": 16, "final_logit_softcapping": 30,
      "attn_logit_softcapping": 50)"));
  llvm::StringRef text = printed;
  EXPECT_TRUE(text.contains("2.8284270763397217")) << printed;
  EXPECT_TRUE(text.contains("scale = 2.5"));
  EXPECT_TRUE(text.contains("5.000000e+01"));
  EXPECT_TRUE(text.contains("3.000000e+01"));
  EXPECT_TRUE(text.contains("unit_offset"));
  EXPECT_TRUE(text.contains("gelu_tanh"));
  expectConfigError(makeGemma(",\n  \"attn_logit_softcapping\": 0"), "13:3",
                    "expected attn_logit_softcapping to be a number of more "
                    "than 0, found 0");
  expectConfigError(makeGemma(",\n  \"use_bidirectional_attention\": true"),
                    "13:3", "expected use_bidirectional_attention to be false");
  expectConfigError(
      makeGemma(",\n  \"rope_parameters\": {\"rope_theta\": 1e6}"), "13:23",
      "unknown key 'rope_parameters.rope_theta'");
  expectConfigError(makeGemma(R"(,
  "rope_parameters": {
    "full_attention": {
      "rope_type": "longrope"}})"),
                    "15:7",
                    "expected rope_parameters.full_attention.rope_type to be "
                    "one of default, linear, llama3, yarn, "
                    "proportional, found \"longrope\"");
}

TEST_F(DecoderFamilies, RefusesModelsOfImages) {
  expectConfigError(R"({"architectures": ["Gemma3ForConditionalGeneration"],
  "model_type": "gemma3", "text_config": {"model_type": "gemma3_text"},
  "vision_config": {}})",
                    "2:3", "model_type 'gemma3' reads more than text");
}

//===----------------------------------------------------------------------===//
// gpt2 and gpt_neox
//===----------------------------------------------------------------------===//

TEST_F(DecoderFamilies, Gpt2HasDefaults) {
  addGpt2();
  expectEqual(makeGpt2(), makeGpt2(R"(, "n_inner": null, "n_ctx": 64,
      "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new",
      "scale_attn_weights": true, "scale_attn_by_inverse_layer_idx": false,
      "tie_word_embeddings": true, "summary_type": "cls_index")"));
  expectEqual(makeGpt2(), makeGpt2(", \"n_inner\": 32"));
  std::string text = printFolder(makeGpt2());
  EXPECT_TRUE(llvm::StringRef(text).contains("hexad.position_limit = 64"));
  EXPECT_TRUE(llvm::StringRef(text).contains("transposed"));
  expectDifferent(makeGpt2(), makeGpt2(", \"activation_function\": \"relu\""));
}

TEST_F(DecoderFamilies, Gpt2HasOldFiles) {
  addGpt2(/*prefix=*/"");
  for (std::string layer : {"h.0.", "h.1.", "h.2."}) {
    add(layer + "attn.bias", {1, 1, 4, 4});
    add(layer + "attn.masked_bias", {});
  }
  printFolder(makeGpt2());
  std::string text = printFolder(makeGpt2("", "GPT2Model"));
  EXPECT_TRUE(llvm::StringRef(text).contains("\"last_hidden_state\""));
}

TEST_F(DecoderFamilies, RefusesGpt2) {
  addGpt2();
  expectConfigError(makeGpt2(",\n  \"scale_attn_weights\": false"), "4:3",
                    "expected scale_attn_weights to be true, found false");
  expectConfigError(makeGpt2(",\n  \"scale_attn_by_inverse_layer_idx\": true"),
                    "4:3", "to be false, found true");
  expectConfigError(makeGpt2(",\n  \"activation_function\": \"mish\""), "4:3",
                    "expected activation_function to be one of gelu, ");
  expectConfigError(change("\"n_head\": 4", "\"n_head\": 3", makeGpt2()),
                    "3:16", "expected n_head to divide n_embd 8, found 3");
  expectConfigError(makeGpt2(",\n  \"n_inner\": 31"), "4:3",
                    "expected layers of shape [31, 8]");
}

TEST_F(DecoderFamilies, GptNeoxHasTwoSpellings) {
  addGptNeox();
  auto turning = [](llvm::StringRef rest) { return makeGptNeox(rest); };
  // A quarter of two columns is none.
  expectConfigError(turning(""), "1:1",
                    "expected an even number of columns of a head to turn, "
                    "found 0 of 2");
  std::string all = R"(, "rotary_pct": 1.0, "rotary_emb_base": 20000)";
  expectEqual(turning(all), turning(R"(, "rope_parameters": {
      "partial_rotary_factor": 1, "rope_theta": 2e4, "rope_type": "default"})"));
  expectEqual(turning(all), turning(all + ", \"rope_theta\": 2e4, "
                                          "\"partial_rotary_factor\": 1, "
                                          "\"use_parallel_residual\": true, "
                                          "\"hidden_act\": \"gelu\", "
                                          "\"attention_bias\": true, "
                                          "\"layer_norm_eps\": 1e-5"));
  expectDifferent(turning(all),
                  turning(all + ", \"use_parallel_residual\": false"));
  expectConfigError(turning(all + ",\n  \"rope_theta\": 3"), "10:3",
                    "to be 20000");
  expectConfigError(turning(",\n  \"rotary_pct\": 1.5"), "10:3",
                    "expected rotary_pct to be at most 1, found 1.5");
}

} // namespace
