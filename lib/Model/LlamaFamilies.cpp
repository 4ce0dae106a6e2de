//===- LlamaFamilies.cpp - Checkpoint folders of models like llama --------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoders with RMS norms, rotary embeddings and gated feed-forward layers.
// They differ in what a Traits says.
//
// Touvron et al., "LLaMA: Open and Efficient Foundation Language Models",
// arXiv:2302.13971; Jiang et al., "Mistral 7B", arXiv:2310.06825; Qwen Team,
// "Qwen2 Technical Report", arXiv:2407.10671, "Qwen3 Technical Report",
// arXiv:2505.09388; OLMo Team, "2 OLMo 2 Furious", arXiv:2501.00656; Gemma
// Team, "Gemma 3 Technical Report", arXiv:2503.19786.
//
//===----------------------------------------------------------------------===//

#include "DecoderConfig.h"
#include "Family.h"
#include "LayerWindows.h"
#include "RopeConfig.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace hexad;

//===----------------------------------------------------------------------===//
// Names of tensors
//===----------------------------------------------------------------------===//

/// The elements of two lists as one.
template <typename T, size_t A, size_t B, size_t... I, size_t... J>
static constexpr std::array<T, A + B>
concatenate(const T (&a)[A], const T (&b)[B], std::index_sequence<I...>,
            std::index_sequence<J...>) {
  return {a[I]..., b[J]...};
}
template <typename T, size_t A, size_t B>
static constexpr std::array<T, A + B> concatenate(const T (&a)[A],
                                                  const T (&b)[B]) {
  return concatenate<T>(a, b, std::make_index_sequence<A>(),
                        std::make_index_sequence<B>());
}

static constexpr NameStem commonStems[] = {
    {"words", "embed_tokens", true},
    {"attention.query", "layers.{i}.self_attn.q_proj", true},
    {"attention.key", "layers.{i}.self_attn.k_proj", true},
    {"attention.value", "layers.{i}.self_attn.v_proj", true},
    {"attention.output", "layers.{i}.self_attn.o_proj", true},
    {"attention.query_norm", "layers.{i}.self_attn.q_norm", true},
    {"attention.key_norm", "layers.{i}.self_attn.k_norm", true},
    {"feed_forward.gate", "layers.{i}.mlp.gate_proj", true},
    {"feed_forward.up", "layers.{i}.mlp.up_proj", true},
    {"feed_forward.down", "layers.{i}.mlp.down_proj", true},
    {"final_norm", "norm", true},
    {"head", "lm_head", false}};

/// `post_attention_layernorm` is what stands in front of the feed-forward
/// layers in some models, and what stands behind attention in others.
static constexpr NameStem normsBefore[] = {
    {"attention_norm", "layers.{i}.input_layernorm", true},
    {"feed_forward_norm", "layers.{i}.post_attention_layernorm", true}};
static constexpr NameStem normsBehind[] = {
    {"attention_output_norm", "layers.{i}.post_attention_layernorm", true},
    {"feed_forward_output_norm", "layers.{i}.post_feedforward_layernorm",
     true}};
static constexpr NameStem normsAround[] = {
    {"attention_norm", "layers.{i}.input_layernorm", true},
    {"attention_output_norm", "layers.{i}.post_attention_layernorm", true},
    {"feed_forward_norm", "layers.{i}.pre_feedforward_layernorm", true},
    {"feed_forward_output_norm", "layers.{i}.post_feedforward_layernorm",
     true}};

static constexpr auto stemsBefore = concatenate(commonStems, normsBefore);
static constexpr auto stemsBehind = concatenate(commonStems, normsBehind);
static constexpr auto stemsAround = concatenate(commonStems, normsAround);

static constexpr llvm::StringLiteral leftovers[] = {
    "layers.*.self_attn.rotary_emb.inv_freq", "lm_head.weight",
    "rotary_emb.inv_freq"};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral commonKeys[] = {"architectures",
                                                     "head_dim",
                                                     "hidden_size",
                                                     "intermediate_size",
                                                     "max_position_embeddings",
                                                     "model_type",
                                                     "num_attention_heads",
                                                     "num_hidden_layers",
                                                     "num_key_value_heads",
                                                     "rms_norm_eps",
                                                     "rope_parameters",
                                                     "rope_scaling",
                                                     "rope_theta",
                                                     "tie_word_embeddings",
                                                     "vocab_size"};
static constexpr llvm::StringLiteral ownLlamaKeys[] = {
    "attention_bias", "hidden_act", "mlp_bias"};
static constexpr auto llamaKeys = concatenate(commonKeys, ownLlamaKeys);
static constexpr llvm::StringLiteral ownMistralKeys[] = {"hidden_act",
                                                         "sliding_window"};
static constexpr auto mistralKeys = concatenate(commonKeys, ownMistralKeys);
static constexpr llvm::StringLiteral ownOlmo2Keys[] = {"attention_bias",
                                                       "hidden_act"};
static constexpr auto olmo2Keys = concatenate(commonKeys, ownOlmo2Keys);
static constexpr llvm::StringLiteral ownQwen2Keys[] = {
    "hidden_act", "layer_types", "max_window_layers", "sliding_window",
    "use_sliding_window"};
static constexpr auto qwen2Keys = concatenate(commonKeys, ownQwen2Keys);
static constexpr llvm::StringLiteral ownQwen3Keys[] = {
    "attention_bias",    "hidden_act",     "layer_types",
    "max_window_layers", "sliding_window", "use_sliding_window"};
static constexpr auto qwen3Keys = concatenate(commonKeys, ownQwen3Keys);
static constexpr llvm::StringLiteral ownGemma3Keys[] = {
    "_sliding_window_pattern", "attention_bias",       "attn_logit_softcapping",
    "final_logit_softcapping", "hidden_activation",    "layer_types",
    "query_pre_attn_scalar",   "rope_local_base_freq", "sliding_window",
    "sliding_window_pattern"};
static constexpr auto gemma3Keys = concatenate(commonKeys, ownGemma3Keys);

static constexpr FixedKey fixedKeys[] = {
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"partial_rotary_factor", "1"},
    {"pruned_heads", "{}"},
    {"rope_interleaved", "false"},
    {"tie_encoder_decoder", "false"},
    {"use_bidirectional_attention", "false"},
    {"use_mrope", "false"}};

static constexpr llvm::StringLiteral inertKeys[] = {
    "attention_dropout",
    "cache_implementation",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "is_decoder",
    "is_llama_config",
    "pretraining_tp",
    "transformers.js_config"};
/// What the configuration says about biases does not count in qwen2.
static constexpr llvm::StringLiteral ownQwen2InertKeys[] = {"attention_bias"};
static constexpr auto qwen2InertKeys =
    concatenate(inertKeys, ownQwen2InertKeys);

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral thetaKeys[] = {"rope_theta"};
static constexpr llvm::StringLiteral localThetaKeys[] = {
    "rope_local_base_freq"};

namespace {

/// Of a branch: in front of its layers, behind them, or both.
enum class Norms { Before, Behind, Around };

enum class AttentionBias {
  None,
  Key,             ///< of all four projections, as `attention_bias` says
  QueryKeyAndValue ///< not of the output
};

struct Traits {
  double eps = 1e-6;
  Norms norms = Norms::Before;
  QkNorm qkNorm = QkNorm::None;
  /// Norms multiply by 1 + weight.
  bool unitOffset = false;
  AttentionBias attentionBias = AttentionBias::None;
  WindowRule windows = WindowRule::None;
  /// Columns of a head if nothing is said; `hidden_size` by heads if absent.
  std::optional<int64_t> headDim = {};
  bool tied = false;
  llvm::StringLiteral activationKey = "hidden_act";
  llvm::StringLiteral activation = "silu";
  /// The family gemma: embeddings times the root of their size, scores scaled
  /// by a number of its own, caps, and rotary embeddings by kind of layer.
  bool isGemma = false;
};

/// What a config.json says of a model.
struct Decoder {
  int64_t hidden, intermediate, layers, heads, kvHeads, headDim, vocabulary;
  double eps;
  Activation activation;
  bool tied, attentionBias = false, feedForwardBias = false;
  std::optional<double> scale, scoreCap, headCap;
  LayerWindows windows;
  RopeDescription rope, slidingRope;
};

} // namespace

static LogicalResult readCap(const ConfigFile &config, llvm::StringRef key,
                             std::optional<double> &cap) {
  if (!config.find(key))
    return success();
  return config.readPositive(key, cap.emplace());
}

static LogicalResult readGemma(const ConfigFile &config, Decoder &decoder) {
  double scalar;
  if (failed(config.readPositive("query_pre_attn_scalar", scalar, 256)) ||
      failed(readCap(config, "attn_logit_softcapping", decoder.scoreCap)) ||
      failed(readCap(config, "final_logit_softcapping", decoder.headCap)))
    return failure();
  decoder.scale = 1 / std::sqrt(scalar);
  return readRopeOfLayerTypes(config, {/*theta=*/1e6, thetaKeys},
                              {/*theta=*/1e4, localThetaKeys}, decoder.headDim,
                              decoder.rope, decoder.slidingRope);
}

static LogicalResult readHeads(const ConfigFile &config, const Traits &traits,
                               Decoder &decoder) {
  if (failed(config.readSize("num_attention_heads", maxDimension,
                             decoder.heads)) ||
      failed(config.readSize("num_key_value_heads", maxDimension,
                             decoder.kvHeads, decoder.heads)) ||
      failed(checkDivides(config, "num_key_value_heads", decoder.kvHeads,
                          "num_attention_heads", decoder.heads)))
    return failure();
  if (config.find("head_dim") || traits.headDim)
    return config.readSize("head_dim", maxDimension, decoder.headDim,
                           traits.headDim);
  decoder.headDim = decoder.hidden / decoder.heads;
  return checkDivides(config, "num_attention_heads", decoder.heads,
                      "hidden_size", decoder.hidden);
}

static LogicalResult readDecoder(const ConfigFile &config, const Traits &traits,
                                 Decoder &decoder) {
  if (failed(config.readSize("hidden_size", maxDimension, decoder.hidden)) ||
      failed(config.readSize("intermediate_size", maxDimension,
                             decoder.intermediate)) ||
      failed(config.readSize("num_hidden_layers", maxRepeat, decoder.layers)) ||
      failed(config.readSize("vocab_size", maxDimension, decoder.vocabulary)) ||
      failed(config.readNumber("rms_norm_eps", decoder.eps, traits.eps)) ||
      failed(config.readActivation(traits.activationKey, decoder.activation,
                                   traits.activation)) ||
      failed(
          config.readFlag("tie_word_embeddings", decoder.tied, traits.tied)) ||
      failed(config.readFlag("mlp_bias", decoder.feedForwardBias, false)) ||
      failed(readHeads(config, traits, decoder)) ||
      failed(readLayerWindows(config, traits.windows, decoder.layers,
                              decoder.windows)))
    return failure();
  if (traits.attentionBias == AttentionBias::QueryKeyAndValue)
    decoder.attentionBias = true;
  else if (failed(
               config.readFlag("attention_bias", decoder.attentionBias, false)))
    return failure();
  if (traits.isGemma)
    return readGemma(config, decoder);
  return success(succeeded(readRope(config, {/*theta=*/1e4, thetaKeys},
                                    decoder.headDim, decoder.rope)) &&
                 (decoder.slidingRope = decoder.rope, true));
}

/// The layers of one iteration.
static std::vector<Layer> describeBody(const ConfigFile &config,
                                       const Traits &traits,
                                       const Decoder &decoder, bool sliding) {
  AttentionLayer attention{"attention", decoder.heads};
  attention.kvHeads = decoder.kvHeads;
  attention.headDim = decoder.headDim;
  attention.scale = decoder.scale;
  attention.bias = decoder.attentionBias;
  if (traits.attentionBias == AttentionBias::QueryKeyAndValue)
    attention.outputBias = false;
  attention.causal = true;
  if (sliding)
    attention.window = decoder.windows.size;
  attention.softcap = decoder.scoreCap;
  attention.rope = sliding ? decoder.slidingRope : decoder.rope;
  attention.qkNorm = traits.qkNorm;
  attention.qkNormEps = decoder.eps;
  attention.qkNormUnitOffset = traits.unitOffset;
  GatedLayer gated{"feed_forward", decoder.intermediate, decoder.activation,
                   decoder.feedForwardBias};

  auto branch = [&](Location loc, const std::string &name, Layer layer) {
    auto norm = [&](const llvm::Twine &suffix) {
      return Layer{
          config.getLocation("rms_norm_eps"),
          RmsNormLayer{name + suffix.str(), decoder.eps, traits.unitOffset}};
    };
    std::vector<Layer> layers;
    if (traits.norms != Norms::Behind)
      layers.push_back(norm("_norm"));
    layers.push_back(std::move(layer));
    if (traits.norms != Norms::Before)
      layers.push_back(norm("_output_norm"));
    return Layer{loc, ResidualLayer{std::move(layers)}};
  };
  Location heads = config.getLocation("num_attention_heads");
  Location intermediate = config.getLocation("intermediate_size");
  return {branch(heads, "attention", {heads, attention}),
          branch(intermediate, "feed_forward", {intermediate, gated})};
}

static LogicalResult describeDecoder(const ConfigFile &config,
                                     llvm::StringRef architecture,
                                     const Traits &traits,
                                     Description &description) {
  Decoder decoder;
  if (failed(readDecoder(config, traits, decoder)))
    return failure();
  addDecoderInputs(config, description);
  description.hiddenAfterNorm = true;
  std::vector<Layer> &model = description.layers;
  model.push_back({config.getLocation("vocab_size"),
                   EmbeddingLayer{"words", "input_ids", decoder.vocabulary,
                                  decoder.hidden}});
  if (traits.isGemma) // A number of the model's type: of float32.
    model.push_back({config.getLocation("hidden_size"),
                     ScaleLayer{static_cast<float>(
                         std::sqrt(static_cast<double>(decoder.hidden)))}});
  RepeatLayer repeat{decoder.layers, {}};
  for (bool sliding : decoder.windows.getPeriod())
    repeat.period.push_back(describeBody(config, traits, decoder, sliding));
  model.push_back({config.getLocation("num_hidden_layers"), repeat});
  model.push_back({config.getLocation("rms_norm_eps"),
                   RmsNormLayer{"final_norm", decoder.eps, traits.unitOffset}});
  addDecoderHead(config, architecture,
                 {decoder.vocabulary, decoder.tied, decoder.headCap}, model);
  return success();
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral llamaArchitectures[] = {"LlamaForCausalLM",
                                                             "LlamaModel"};
const Family hexad::llamaFamily = {
    {"llama", "model.", stemsBefore, leftovers},
    {llamaKeys, fixedKeys, inertKeys},
    llamaArchitectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.attentionBias = AttentionBias::Key},
                             description);
    }};

static constexpr llvm::StringLiteral mistralArchitectures[] = {
    "MistralForCausalLM", "MistralModel"};
const Family hexad::mistralFamily = {
    {"mistral", "model.", stemsBefore, leftovers},
    {mistralKeys, fixedKeys, inertKeys},
    mistralArchitectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.windows = WindowRule::AllLayers}, description);
    }};

static constexpr llvm::StringLiteral olmo2Architectures[] = {"Olmo2ForCausalLM",
                                                             "Olmo2Model"};
const Family hexad::olmo2Family = {
    {"olmo2", "model.", stemsBehind, leftovers},
    {olmo2Keys, fixedKeys, inertKeys},
    olmo2Architectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.eps = 1e-5,
                              .norms = Norms::Behind,
                              .qkNorm = QkNorm::Projection,
                              .attentionBias = AttentionBias::Key},
                             description);
    }};

static constexpr llvm::StringLiteral qwen2Architectures[] = {"Qwen2ForCausalLM",
                                                             "Qwen2Model"};
const Family hexad::qwen2Family = {
    {"qwen2", "model.", stemsBefore, leftovers},
    {qwen2Keys, fixedKeys, qwen2InertKeys},
    qwen2Architectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.attentionBias = AttentionBias::QueryKeyAndValue,
                              .windows = WindowRule::LastLayersIfUsed},
                             description);
    }};

static constexpr llvm::StringLiteral qwen3Architectures[] = {"Qwen3ForCausalLM",
                                                             "Qwen3Model"};
const Family hexad::qwen3Family = {
    {"qwen3", "model.", stemsBefore, leftovers},
    {qwen3Keys, fixedKeys, inertKeys},
    qwen3Architectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.qkNorm = QkNorm::Heads,
                              .attentionBias = AttentionBias::Key,
                              .windows = WindowRule::LastLayersIfUsed,
                              .headDim = 128},
                             description);
    }};

static constexpr llvm::StringLiteral gemma3Architectures[] = {
    "Gemma3ForCausalLM", "Gemma3TextModel"};
const Family hexad::gemma3Family = {
    {"gemma3_text", "model.", stemsAround, leftovers},
    {gemma3Keys, fixedKeys, inertKeys},
    gemma3Architectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.norms = Norms::Around,
                              .qkNorm = QkNorm::Heads,
                              .unitOffset = true,
                              .attentionBias = AttentionBias::Key,
                              .windows = WindowRule::Pattern,
                              .headDim = 256,
                              .tied = true,
                              .activationKey = "hidden_activation",
                              .activation = "gelu_pytorch_tanh",
                              .isGemma = true},
                             description);
    }};
