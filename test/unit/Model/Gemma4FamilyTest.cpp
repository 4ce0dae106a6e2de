//===- Gemma4FamilyTest.cpp - Folders of Gemma 4 --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderTest.h"

using namespace mlir;
using namespace hexad;

namespace {

/// Six layers, two with a window and one without in turn; heads of 4 and of 6
/// columns.
std::string makeConfig(llvm::StringRef rest = "",
                       llvm::StringRef architecture = "Gemma4ForCausalLM") {
  return (R"({
  "architectures": [")" +
          architecture + R"("],
  "model_type": "gemma4_text",
  "hidden_size": 8,
  "intermediate_size": 6,
  "num_attention_heads": 4,
  "num_hidden_layers": 6,
  "vocab_size": 7,
  "head_dim": 4,
  "global_head_dim": 6,
  "num_key_value_heads": 2,
  "sliding_window": 5,
  "layer_types": ["sliding_attention", "sliding_attention", "full_attention",
    "sliding_attention", "sliding_attention", "full_attention"])" +
          rest + "\n}\n")
      .str();
}
/// Of the same with an input for each layer.
std::string withInput(llvm::StringRef rest = "") {
  return makeConfig((", \"hidden_size_per_layer_input\": 3,\n"
                     "\"vocab_size_per_layer_input\": 7" +
                     rest)
                        .str());
}
std::string withoutInput(llvm::StringRef rest = "",
                         llvm::StringRef architecture = "Gemma4ForCausalLM") {
  return makeConfig((", \"hidden_size_per_layer_input\": 0" + rest).str(),
                    architecture);
}

class Gemma4Family : public DecoderTest {
protected:
  struct Shape {
    int64_t ownLayers = 6, wide = 1, globalKvHeads = 2;
    bool valueFromKey = false, layerInput = false, experts = false;
  };
  void addModel(const Shape &shape, const std::string &prefix = "model.") {
    add(prefix + "embed_tokens.weight", {7, 8});
    add(prefix + "norm.weight", {8});
    for (int64_t i = 0; i < 6; ++i)
      addLayer(shape, prefix + "layers." + std::to_string(i) + ".", i);
    if (!shape.layerInput)
      return;
    add(prefix + "embed_tokens_per_layer.weight", {7, 18});
    add(prefix + "per_layer_model_projection.weight", {18, 8});
    add(prefix + "per_layer_projection_norm.weight", {3});
  }
  void addLayer(const Shape &shape, const std::string &layer, int64_t number) {
    bool global = number % 3 == 2, shared = number >= shape.ownLayers;
    int64_t headDim = global ? 6 : 4;
    int64_t keys = (global ? shape.globalKvHeads : 2) * headDim;
    std::string attention = layer + "self_attn.";
    add(attention + "q_proj.weight", {4 * headDim, 8});
    add(attention + "q_norm.weight", {headDim});
    add(attention + "o_proj.weight", {8, 4 * headDim});
    if (!shared) {
      add(attention + "k_proj.weight", {keys, 8});
      add(attention + "k_norm.weight", {headDim});
    }
    if (!shared && !(global && shape.valueFromKey))
      add(attention + "v_proj.weight", {keys, 8});
    int64_t hidden = shared ? shape.wide * 6 : 6;
    add(layer + "mlp.gate_proj.weight", {hidden, 8});
    add(layer + "mlp.up_proj.weight", {hidden, 8});
    add(layer + "mlp.down_proj.weight", {8, hidden});
    for (std::string norm :
         {"input_layernorm", "post_attention_layernorm",
          "pre_feedforward_layernorm", "post_feedforward_layernorm"})
      add(layer + norm + ".weight", {8});
    add(layer + "layer_scalar", {1});
    if (shape.experts) {
      for (std::string norm :
           {"post_feedforward_layernorm_1", "post_feedforward_layernorm_2",
            "pre_feedforward_layernorm_2"})
        add(layer + norm + ".weight", {8});
      add(layer + "router.proj.weight", {3, 8});
      add(layer + "router.scale", {8});
      add(layer + "router.per_expert_scale", {3});
      add(layer + "experts.gate_up_proj", {3, 10, 8});
      add(layer + "experts.down_proj", {3, 8, 5});
    }
    if (!shape.layerInput)
      return;
    add(layer + "per_layer_input_gate.weight", {3, 8});
    add(layer + "per_layer_projection.weight", {8, 3});
    add(layer + "post_per_layer_input_norm.weight", {8});
  }

  std::string printFolder(llvm::StringRef config) {
    OwningOpRef<ModuleOp> module = readFolder(config, {"hidden"});
    EXPECT_TRUE(module) << diagnostics;
    EXPECT_EQ(diagnostics, "");
    return module ? print(*module) : "";
  }
  void expectEqual(llvm::StringRef a, llvm::StringRef b) {
    EXPECT_EQ(printFolder(a), printFolder(b));
  }
};

TEST_F(Gemma4Family, SizesOfHeadsHaveTwoSpellings) {
  addModel({.globalKvHeads = 1, .valueFromKey = true});
  std::string perLayer = R"({"2": {"head_dim": 6, "num_key_value_heads": 1},
      "5": {"head_dim": 6, "num_key_value_heads": 1}})";
  std::string published = withoutInput(R"(, "attention_k_eq_v": true,
      "num_global_key_value_heads": 1)");
  expectEqual(published, change("\"global_head_dim\": 6,", "",
                                withoutInput(", \"attention_k_eq_v\": true, "
                                             "\"per_layer_config\": " +
                                             perLayer)));
  expectConfigError(withoutInput(",\n\"per_layer_config\": " + perLayer),
                    "10:3",
                    "expected global_head_dim to be absent beside "
                    "per_layer_config, found 6");
  auto broken = [&](llvm::StringRef object) {
    return change(
        "\"global_head_dim\": 6,", "",
        withoutInput((",\n\"per_layer_config\": {\n" + object + "}").str()));
  };
  expectConfigError(broken(R"("6": {"head_dim": 6})"), "16:1",
                    "expected a layer from 0 to 5, found '6'");
  expectConfigError(broken(R"("01": {"head_dim": 6})"), "16:1",
                    "expected a layer from 0 to 5, found '01'");
  expectConfigError(broken(R"("one": {})"), "16:1",
                    "expected a layer from 0 to 5, found 'one'");
  expectConfigError(broken(R"("2": {"window": 6})"), "16:7",
                    "unknown key 'per_layer_config.2.window'");
  expectConfigError(broken(R"("2": {"head_dim": 0})"), "16:7",
                    "expected per_layer_config.2.head_dim to be an integer");
  expectConfigError(broken(R"("2": {"head_dim": 6})"), "15:1",
                    "expected all layers of a kind to have the same head_dim, "
                    "found 6 and 4");
}

// The number of global key-value heads counts only where values are made of
// keys.
TEST_F(Gemma4Family, ValuesMayBeMadeOfKeys) {
  addModel({});
  expectEqual(withoutInput(), withoutInput(R"(, "attention_k_eq_v": false,
      "num_global_key_value_heads": 1)"));
}

TEST_F(Gemma4Family, DefaultsAreThoseOfTheLibrary) {
  addModel({});
  expectEqual(withoutInput(), withoutInput(R"(, "attention_bias": false,
      "num_kv_shared_layers": 0, "use_double_wide_mlp": true,
      "tie_word_embeddings": true, "rms_norm_eps": 1e-6,
      "hidden_activation": "gelu_pytorch_tanh", "enable_moe_block": false,
      "final_logit_softcapping": null, "use_bidirectional_attention": "vision",
      "rope_parameters": {
        "full_attention": {"rope_type": "proportional", "rope_theta": 1e6,
          "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}})"));
  // The last layer has never a window.
  expectEqual(withoutInput(), change("full_attention\"]",
                                     "sliding_attention\"]", withoutInput()));
}

// Of a model that reads images as well the texts' part is taken.
TEST_F(Gemma4Family, TextOfMore) {
  auto whole = [](llvm::StringRef rest, std::string text) {
    return (R"({
  "architectures": ["Gemma4ForConditionalGeneration"],
  "model_type": "gemma4",
  "vision_config": {"hidden_size": 3}, "image_token_id": 6,
)" + rest +
            "  \"text_config\": " + text + "}\n")
        .str();
  };
  addModel({}, "model.language_model.");
  add("model.vision_tower.weight", {3, 3});
  std::string text = change("\"architectures\": [\"Gemma4ForCausalLM\"],",
                            "\"use_cache\": true,", withoutInput());
  std::string printed = printFolder(whole("", text));
  EXPECT_TRUE(llvm::StringRef(printed).contains(
      "\"model.language_model.layers.5.layer_scalar\""));
  expectConfigError(whole("  \"tie_word_embeddings\": false,\n", text), "5:3",
                    "expected tie_word_embeddings to be true, found false");
  expectConfigError(whole("", change("gemma4_text", "llama", text)), "7:3",
                    "expected text_config.model_type to be gemma4_text");
  expectConfigError(
      whole("", change("\"hidden_size\": 8", "\"width\": 8", text)), "8:3",
      "unknown key 'text_config.width'");
}

TEST_F(Gemma4Family, RefusesConfigurations) {
  addModel({});
  auto refuse = [&](llvm::StringRef rest, llvm::StringRef what) {
    expectConfigError(withoutInput((",\n" + rest).str()), "15:1", what);
  };
  refuse(R"("use_bidirectional_attention": "all")",
         "expected use_bidirectional_attention to be null or \"vision\", found "
         "\"all\"");
  refuse(R"("num_kv_shared_layers": 6)",
         "expected num_kv_shared_layers to be an integer from 0 to 5, found 6");
  refuse(R"("num_kv_shared_layers": 4)",
         "expected a layer of the kind of layer 2 among the first 2, for it to "
         "attend to its keys");
  refuse(R"("rope_parameters": {"sliding_attention": {"rope_theta": 1e4}})",
         "expected rope_parameters.full_attention to be an object: there are "
         "such layers, but the key is missing");
  refuse(R"("attn_logit_softcapping": 30)", "unknown key");
  expectConfigError(
      withoutInput(",\n\"num_kv_shared_layers\": 3", "Gemma4TextModel"), "15:1",
      "expected Gemma4ForCausalLM where layers attend to the "
      "keys of others, found Gemma4TextModel");
}

//===----------------------------------------------------------------------===//
// Folders and the descriptions that they amount to
//===----------------------------------------------------------------------===//

/// Layers of one iteration, in the words of descriptions.
std::string describeLayer(llvm::StringRef attention, llvm::StringRef hidden,
                          bool layerInput, bool experts = false) {
  std::string text = (R"(
      - - residual:
            - rms_norm: { name: attention_norm, eps: 1e-6 }
            - attention: { heads: 4, kv_heads: 2, causal: true, scale: 1, qk_norm: { of: heads, eps: 1e-6 }, )" +
                      attention + R"( }
            - rms_norm: { name: attention_output_norm, eps: 1e-6 })")
                         .str();
  std::string norm = "rms_norm: { name: feed_forward_norm, eps: 1e-6 }";
  std::string dense =
      "geglu_tanh: { name: feed_forward, hidden: " + hidden.str() + " }";
  if (experts)
    text += R"(
        - residual:
            - branches:
                - [ )" +
            norm + ", " + dense +
            R"(, rms_norm: { name: dense_output_norm, eps: 1e-6 } ]
                - - moe:
                      name: experts
                      experts: 3
                      hidden: 5
                      activation: gelu_tanh
                      router:
                        top_k: 2
                        renormalize: true
                        expert_scale: true
                        layers: [ rms_norm: { eps: 1e-6, weight: false }, scale_columns: { name: router_scale }, scale: 0.35355339059327373 ]
                      layers: [ rms_norm: { name: experts_norm, eps: 1e-6 } ]
                  - rms_norm: { name: experts_output_norm, eps: 1e-6 }
            - rms_norm: { name: feed_forward_output_norm, eps: 1e-6 })";
  else
    text += "\n        - residual:\n            - " + norm +
            "\n            - " + dense + R"(
            - rms_norm: { name: feed_forward_output_norm, eps: 1e-6 })";
  if (layerInput)
    text += R"(
        - residual:
            - per_layer_input: { name: layer_input, input: input_ids, entries: 7, size: 3, activation: gelu_tanh, eps: 1e-6 }
            - rms_norm: { name: layer_input_norm, eps: 1e-6 })";
  return text + R"(
        - scale_columns: { name: layer_scale, scalar: true })";
}

constexpr llvm::StringLiteral sliding =
    "head_dim: 4, window: 5, rope: { theta: 10000 }, ";
constexpr llvm::StringLiteral global =
    "head_dim: 6, rope: { theta: 1e6, scaling: { kind: proportional, share: "
    "0.25 } }, ";

std::string describeModel(llvm::StringRef repeats) {
  return ("\n  - embedding: { name: words, input: input_ids, entries: 7, dim: "
          "8 "
          "}\n  - scale: 2.8284270763397217" +
          repeats + R"(
  - rms_norm: { name: final_norm, eps: 1e-6 }
  - linear: { name: head, out: 7, tied: words }
  - softcap: 20
  - output: logits
)")
      .str();
}

TEST_F(Gemma4Family, SharedKeysAndInputsOfLayersAsDescription) {
  addModel({.ownLayers = 3, .wide = 2, .layerInput = true});
  std::string norm = "value_norm: { eps: 1e-6 }", repeats;
  repeats = "\n  - repeat: 3\n    period:";
  for (llvm::StringRef kind : {sliding, sliding, global})
    repeats += describeLayer((kind + norm).str(), "6", true);
  repeats += "\n  - repeat: 3\n    first: 3\n    period:";
  for (auto [kind, source] : {std::pair(sliding, "1"), std::pair(sliding, "1"),
                              std::pair(global, "2")})
    repeats += describeLayer((kind + "keys_of: " + source).str(), "12", true);
  expectSame(withInput(R"(, "num_kv_shared_layers": 3,
      "use_double_wide_mlp": true, "final_logit_softcapping": 20)"),
             "gemma4_text", describeModel(repeats));
}

TEST_F(Gemma4Family, ValuesFromKeysAsDescription) {
  addModel({.valueFromKey = true});
  std::string norm = "value_norm: { eps: 1e-6 }", repeats;
  repeats = "\n  - repeat: 6\n    period:";
  for (llvm::StringRef kind : {sliding, sliding})
    repeats += describeLayer((kind + norm).str(), "6", false);
  repeats += describeLayer((global + norm + ", value_from_key: true").str(),
                           "6", false);
  expectSame(withoutInput(R"(, "attention_k_eq_v": true,
      "final_logit_softcapping": 20)"),
             "gemma4_text", describeModel(repeats));
}

TEST_F(Gemma4Family, ExpertsAsDescription) {
  addModel({.experts = true});
  std::string norm = "value_norm: { eps: 1e-6 }", repeats;
  repeats = "\n  - repeat: 6\n    period:";
  for (llvm::StringRef kind : {sliding, sliding, global})
    repeats += describeLayer((kind + norm).str(), "6", false, true);
  expectSame(withoutInput(R"(, "enable_moe_block": true, "num_experts": 3,
      "top_k_experts": 2, "moe_intermediate_size": 5,
      "final_logit_softcapping": 20)"),
             "gemma4_text", describeModel(repeats));
  expectConfigError(withoutInput(R"(, "enable_moe_block": true,
  "num_experts": 3,
  "top_k_experts": 4, "moe_intermediate_size": 5)"),
                    "16:3",
                    "expected top_k_experts to be an integer from 1 to 3");
}

//===----------------------------------------------------------------------===//
// Descriptions that are wrong
//===----------------------------------------------------------------------===//

class Gemma4Words : public Gemma4Family {
protected:
  void SetUp() override {
    addModel({.ownLayers = 3, .layerInput = true});
    store("{}");
  }
  /// Of a model whose layers from line 5 on are `layers`.
  void expectLayerError(llvm::StringRef layers, llvm::StringRef where,
                        llvm::StringRef what) {
    std::string path = folder.write("model.yaml", (R"(name: model
inputs: { input_ids: "i32[batch, seq]" }
weights: { file: model.safetensors, names: gemma4_text, unused: [ "*" ] }
layers:
)" + layers + R"(
  - linear: { name: head, out: 7, tied: words }
  - output: logits
)")
                                                      .str());
    expectError(path, getPlace("model.yaml", where), what);
  }
  static constexpr llvm::StringLiteral words =
      "  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }\n";
  static constexpr llvm::StringLiteral own =
      "  - { repeat: 2, layers: [ attention: { heads: 4, kv_heads: 2, "
      "head_dim: "
      "4, causal: true } ] }\n";
  static std::string reader(std::string first, std::string attention) {
    return (words + own + "  - { repeat: 1, " + first +
            "layers: [ attention: { heads: 4, causal: true, " + attention +
            " } ] }")
        .str();
  }
};

TEST_F(Gemma4Words, RefusesRepeatsThatDoNotFollow) {
  expectLayerError(reader("first: 3, ", "keys_of: 1"), "7:7",
                   "expected the first layer of a repeat to be 0 or the number "
                   "of layers in the repeats right in front, 2, found 3");
  expectLayerError(reader("first: -1, ", "keys_of: 1"), "7:25",
                   "expected the number of a layer, from 0 to 4095");
  expectLayerError((words +
                    "  - { repeat: 1, first: 1, layers: [ scale_columns: "
                    "{ name: layer_scale, scalar: true } ] }")
                       .str(),
                   "6:7", "right in front, 0, found 1");
  // Numbered from 0 they are other layers.
  expectLayerError((words + own + own).str(), "",
                   "know no layer 'attention_2.query'");
}

TEST_F(Gemma4Words, RefusesKeysOfOtherLayers) {
  std::string heads = "kv_heads: 2, head_dim: 4, ";
  expectLayerError(reader("first: 2, ", heads + "keys_of: 2"), "7:38",
                   "expected 'attention' of an earlier repeat to have keys in "
                   "layer 2");
  expectLayerError(reader("first: 2, ", heads + "window: 3, keys_of: 1"),
                   "7:38",
                   "expected the kv_heads, head_dim and window of layer 1, "
                   "whose keys are attended to");
  expectLayerError(reader("first: 2, ", "head_dim: 4, keys_of: 1"), "7:38",
                   "expected the kv_heads, head_dim and window of layer 1");
}

TEST_F(Gemma4Words, RefusesInputsOfLayers) {
  auto input = [](llvm::StringRef fields) {
    return (words +
            "  - { repeat: 1, layers: [ per_layer_input: { name: "
            "layer_input, size: 3, eps: 1e-6, " +
            fields + " } ] }")
        .str();
  };
  expectLayerError(input("input: input_ids, activation: gelu"), "6:28",
                   "per_layer_input needs the key 'entries'");
  expectLayerError(input("input: input_ids, entries: 7"), "6:28",
                   "per_layer_input needs the key 'activation'");
  expectLayerError(input("input: ids, entries: 7, activation: gelu"), "6:28",
                   "expected the name of an input of ids, found 'ids'");
  expectLayerError(input("input: input_ids, entries: 7, activation: gelu, "
                         "tensors: { table: \"t.{i}\", context: c, norm: n, "
                         "gate: \"g.{i}\", projection: \"p.{i}\" }"),
                   "", "a name without {i}: all iterations read it");
  expectLayerError((words + "  - per_layer_input: { name: layer_input, input: "
                            "input_ids, entries: 7, size: 3, activation: gelu, "
                            "eps: 0 }")
                       .str(),
                   "6:5", "'per_layer_input' needs a repeat around it");
}

} // namespace
