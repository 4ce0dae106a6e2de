//===- Gemma4Family.cpp - Checkpoint folders of Gemma 4 -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoders whose layers differ in more than their windows: sizes of heads, keys
// of another layer, the width of the feed-forward layer. Each may have an input
// of its own for each token.
//
// Gemma Team, "Gemma 3 Technical Report", arXiv:2503.19786, for what is as
// there.
//
//===----------------------------------------------------------------------===//

#include "DecoderConfig.h"
#include "Family.h"
#include "Gemma4Config.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

//===----------------------------------------------------------------------===//
// Names of tensors
//===----------------------------------------------------------------------===//

static constexpr NameStem stems[] = {
    {"words", "embed_tokens", true},
    {"attention.query", "layers.{i}.self_attn.q_proj", true},
    {"attention.key", "layers.{i}.self_attn.k_proj", true},
    {"attention.value", "layers.{i}.self_attn.v_proj", true},
    {"attention.output", "layers.{i}.self_attn.o_proj", true},
    {"attention.query_norm", "layers.{i}.self_attn.q_norm", true},
    {"attention.key_norm", "layers.{i}.self_attn.k_norm", true},
    {"attention_norm", "layers.{i}.input_layernorm", true},
    {"attention_output_norm", "layers.{i}.post_attention_layernorm", true},
    {"feed_forward.gate", "layers.{i}.mlp.gate_proj", true},
    {"feed_forward.up", "layers.{i}.mlp.up_proj", true},
    {"feed_forward.down", "layers.{i}.mlp.down_proj", true},
    {"feed_forward_norm", "layers.{i}.pre_feedforward_layernorm", true},
    {"feed_forward_output_norm", "layers.{i}.post_feedforward_layernorm", true},
    {"dense_output_norm", "layers.{i}.post_feedforward_layernorm_1", true},
    {"router_scale", "layers.{i}.router.scale", true},
    {"experts.router", "layers.{i}.router.proj", true},
    {"experts.router.expert_scale", "layers.{i}.router.per_expert_scale", true},
    {"experts_norm", "layers.{i}.pre_feedforward_layernorm_2", true},
    {"experts.gate_up", "layers.{i}.experts.gate_up_proj", true},
    {"experts.down", "layers.{i}.experts.down_proj", true},
    {"experts_output_norm", "layers.{i}.post_feedforward_layernorm_2", true},
    {"layer_input.gate", "layers.{i}.per_layer_input_gate", true},
    {"layer_input.projection", "layers.{i}.per_layer_projection", true},
    {"layer_input.table", "embed_tokens_per_layer", true},
    {"layer_input.context", "per_layer_model_projection", true},
    {"layer_input.norm", "per_layer_projection_norm", true},
    {"layer_input_norm", "layers.{i}.post_per_layer_input_norm", true},
    {"layer_scale", "layers.{i}.layer_scalar", true},
    {"final_norm", "norm", true},
    {"head", "lm_head", false}};

/// Layers that attend to the keys of others are often stored with unused ones.
static constexpr llvm::StringLiteral leftovers[] = {
    "layers.*.self_attn.k_norm.weight", "layers.*.self_attn.k_proj.weight",
    "layers.*.self_attn.v_norm.weight", "layers.*.self_attn.v_proj.weight",
    "lm_head.weight"};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral readKeys[] = {
    "architectures",
    "attention_bias",
    "attention_k_eq_v",
    "enable_moe_block",
    "final_logit_softcapping",
    "global_head_dim",
    "head_dim",
    "hidden_activation",
    "hidden_size",
    "hidden_size_per_layer_input",
    "intermediate_size",
    "layer_types",
    "max_position_embeddings",
    "model_type",
    "moe_intermediate_size",
    "num_attention_heads",
    "num_experts",
    "num_global_key_value_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_kv_shared_layers",
    "per_layer_config",
    "rms_norm_eps",
    "rope_parameters",
    "sliding_window",
    "tie_word_embeddings",
    "top_k_experts",
    "use_bidirectional_attention",
    "use_double_wide_mlp",
    "vocab_size",
    "vocab_size_per_layer_input"};

static constexpr FixedKey fixedKeys[] = {{"add_cross_attention", "false"},
                                         {"is_encoder_decoder", "false"},
                                         {"pruned_heads", "{}"},
                                         {"tie_encoder_decoder", "false"}};

static constexpr llvm::StringLiteral inertKeys[] = {
    "attention_dropout", "cache_implementation", "chunk_size_feed_forward",
    "cross_attention_hidden_size", "is_decoder"};

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static AttentionLayer describeAttention(const Gemma4Config &model,
                                        const LayerShape &shape) {
  AttentionLayer attention{"attention", model.heads};
  attention.kvHeads = shape.kvHeads;
  attention.headDim = shape.headDim;
  attention.scale = 1;
  attention.bias = model.attentionBias;
  attention.causal = true;
  if (shape.sliding)
    attention.window = model.window;
  attention.rope = shape.sliding ? model.slidingRope : model.rope;
  attention.qkNorm = QkNorm::Heads;
  attention.qkNormEps = model.eps;
  if (shape.keysOf) {
    attention.keysOf = shape.keysOf;
    return attention;
  }
  attention.valueNormEps = model.eps;
  attention.valueFromKey = model.valueFromKey && !shape.sliding;
  return attention;
}

/// Experts beside the feed-forward layer. Both get the row itself: their norms
/// and the router's are their own.
static Layer describeExperts(const ConfigFile &config,
                             const Gemma4Config &model) {
  Location loc = config.getLocation("num_experts");
  Location normLoc = config.getLocation("rms_norm_eps");
  MoeLayer experts = {};
  experts.name = "experts";
  experts.experts = model.experts;
  experts.hidden = model.expertHidden;
  experts.activation = model.activation;
  RouterDescription &router = experts.router;
  router.topK = model.topExperts;
  router.renormalize = true;
  router.expertScale = true;
  // So has the model's own definition what it calls its router's logits.
  router.reported = ReportedScores::Softmax;
  router.input = {
      {normLoc, RmsNormLayer{"", model.eps, /*unitOffset=*/false,
                             /*weight=*/false}},
      {loc, ScaleColumnsLayer{"router_scale"}},
      {loc, ScaleLayer{1 / std::sqrt(static_cast<double>(model.hidden))}}};
  experts.input = {{normLoc, RmsNormLayer{"experts_norm", model.eps}}};
  return {loc, experts};
}

/// The layers of one iteration.
static std::vector<Layer> describeBody(const ConfigFile &config,
                                       const Gemma4Config &model,
                                       const LayerShape &shape) {
  Location normLoc = config.getLocation("rms_norm_eps");
  auto norm = [&](llvm::StringRef name) {
    return Layer{normLoc, RmsNormLayer{name.str(), model.eps}};
  };
  Location heads = config.getLocation("num_attention_heads");
  Location intermediate = config.getLocation("intermediate_size");
  std::vector<Layer> body;
  body.push_back(
      {heads, ResidualLayer{{norm("attention_norm"),
                             {heads, describeAttention(model, shape)},
                             norm("attention_output_norm")}}});
  std::vector<Layer> dense = {
      norm("feed_forward_norm"),
      {intermediate,
       GatedLayer{"feed_forward", shape.intermediate, model.activation}}};
  if (model.experts) {
    dense.push_back(norm("dense_output_norm"));
    ParallelLayer branches{
        {dense, {describeExperts(config, model), norm("experts_output_norm")}},
        /*isResidual=*/false};
    dense = {{config.getLocation("num_experts"), branches}};
  }
  dense.push_back(norm("feed_forward_output_norm"));
  body.push_back({intermediate, ResidualLayer{dense}});
  if (model.layerInput) {
    Location loc = config.getLocation("hidden_size_per_layer_input");
    PerLayerInputLayer input{"layer_input",           "input_ids",
                             model.layerInputEntries, model.layerInput,
                             model.activation,        model.eps};
    body.push_back(
        {loc, ResidualLayer{{{loc, input}, norm("layer_input_norm")}}});
  }
  body.push_back({config.getLocation("num_hidden_layers"),
                  ScaleColumnsLayer{"layer_scale", /*isScalar=*/true}});
  return body;
}

/// Layers `first …` in front of `end`, as the shortest period that they repeat.
static RepeatLayer describeRepeat(const ConfigFile &config,
                                  const Gemma4Config &model, int64_t first,
                                  int64_t end) {
  auto shapes = llvm::ArrayRef(model.layers).slice(first, end - first);
  size_t period = 1;
  while (shapes.drop_front(period) != shapes.drop_back(period))
    ++period;
  RepeatLayer repeat{end - first, {}, first};
  for (const LayerShape &shape : shapes.take_front(period))
    repeat.period.push_back(describeBody(config, model, shape));
  return repeat;
}

/// It has no sessions, which keep keys.
static constexpr llvm::StringLiteral baseArchitecture = "Gemma4TextModel";

static LogicalResult describeText(const ConfigFile &config,
                                  llvm::StringRef architecture,
                                  Description &description) {
  Gemma4Config model;
  if (failed(readGemma4Config(config, model)))
    return failure();
  int64_t count = model.layers.size();
  if (model.ownLayers < count && architecture == baseArchitecture)
    return emitError(config.getLocation("num_kv_shared_layers"),
                     "expected Gemma4ForCausalLM where layers attend to the "
                     "keys of others, found ")
           << architecture;
  addDecoderInputs(config, description);
  description.hiddenAfterNorm = true;
  std::vector<Layer> &layers = description.layers;
  layers.push_back(
      {config.getLocation("vocab_size"),
       EmbeddingLayer{"words", "input_ids", model.vocabulary, model.hidden}});
  // A number of the model's type: of float32.
  layers.push_back({config.getLocation("hidden_size"),
                    ScaleLayer{static_cast<float>(
                        std::sqrt(static_cast<double>(model.hidden)))}});
  layers.push_back({config.getLocation("num_hidden_layers"),
                    describeRepeat(config, model, 0, model.ownLayers)});
  if (model.ownLayers < count)
    layers.push_back({config.getLocation("num_kv_shared_layers"),
                      describeRepeat(config, model, model.ownLayers, count)});
  layers.push_back({config.getLocation("rms_norm_eps"),
                    RmsNormLayer{"final_norm", model.eps}});
  addDecoderHead(config, architecture,
                 {model.vocabulary, model.tied, model.headCap}, layers);
  return success();
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral architectures[] = {"Gemma4ForCausalLM",
                                                        baseArchitecture};
const Family hexad::gemma4Family = {{"gemma4_text", "model.", stems, leftovers},
                                    {readKeys, fixedKeys, inertKeys},
                                    architectures,
                                    describeText};

// The model of texts in one that reads images and sounds too.

static constexpr llvm::StringLiteral wholeArchitectures[] = {
    "Gemma4ForConditionalGeneration"};

static constexpr llvm::StringLiteral wholeKeys[] = {
    "architectures", "model_type", "text_config"};
static constexpr FixedKey wholeFixedKeys[] = {{"tie_word_embeddings", "true"}};
/// Of what else it reads, and of the tokens that stand for that.
static constexpr llvm::StringLiteral wholeInertKeys[] = {
    "audio_config",
    "audio_token_id",
    "boa_token_id",
    "boi_token_id",
    "eoa_token_id",
    "eoa_token_index",
    "eoi_token_id",
    "image_token_id",
    "video_token_id",
    "vision_config",
    "vision_soft_tokens_per_image"};

static constexpr llvm::StringLiteral wholeLeftovers[] = {
    "layers.*.self_attn.k_norm.weight",
    "layers.*.self_attn.k_proj.weight",
    "layers.*.self_attn.v_norm.weight",
    "layers.*.self_attn.v_proj.weight",
    "lm_head.weight",
    "model.audio_tower.*",
    "model.embed_audio.*",
    "model.embed_vision.*",
    "model.vision_tower.*"};

static LogicalResult describeWhole(const ConfigFile &config,
                                   llvm::StringRef architecture,
                                   Description &description) {
  std::optional<ConfigFile> text;
  if (failed(config.openObject("text_config", text)))
    return failure();
  if (!text)
    return config.expected("text_config", "an object");
  std::string type;
  if (failed(text->checkKeys(gemma4Family.keys)) ||
      failed(text->readString("model_type", type, gemma4Family.names.family)))
    return failure();
  if (type != gemma4Family.names.family)
    return text->expected("model_type", gemma4Family.names.family);
  return describeText(*text, architecture, description);
}

const Family hexad::gemma4WholeFamily = {
    {"gemma4", "model.language_model.", stems, wholeLeftovers},
    {wholeKeys, wholeFixedKeys, wholeInertKeys},
    wholeArchitectures,
    describeWhole};
