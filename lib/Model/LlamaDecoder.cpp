//===- LlamaDecoder.cpp - Models like llama -------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LlamaDecoder.h"
#include "DecoderConfig.h"
#include "RopeConfig.h"
#include <cmath>

using namespace mlir;
using namespace hexad;
using namespace hexad::llama;

static constexpr llvm::StringLiteral thetaKeys[] = {"rope_theta"};
static constexpr llvm::StringLiteral localThetaKeys[] = {
    "rope_local_base_freq"};

namespace {
/// What a config.json says of a model.
struct Decoder {
  int64_t hidden, intermediate, layers, heads, kvHeads, headDim, vocabulary;
  double eps;
  Activation activation;
  bool tied, attentionBias = false, feedForwardBias = false;
  std::optional<double> scale, scoreCap, headCap;
  LayerWindows windows;
  LayerExperts experts;
  RopeDescription rope, slidingRope;
};

/// How a layer differs from others.
struct LayerKind {
  bool isSliding, isSparse;
  bool operator==(const LayerKind &) const = default;
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
  return readRopeOfLayerTypes(
      config, {/*theta=*/1e6, thetaKeys}, {/*theta=*/1e4, localThetaKeys},
      decoder.headDim, decoder.headDim, decoder.rope, decoder.slidingRope);
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
                              decoder.windows)) ||
      failed(readLayerExperts(config, traits.experts, decoder.layers,
                              decoder.experts)))
    return failure();
  if (decoder.experts.layer)
    decoder.experts.layer->activation = decoder.activation;
  if (traits.attentionBias == AttentionBias::QueryKeyAndValue)
    decoder.attentionBias = true;
  else if (failed(
               config.readFlag("attention_bias", decoder.attentionBias, false)))
    return failure();
  if (traits.isGemma)
    return readGemma(config, decoder);
  return success(succeeded(readRope(config, {traits.theta, thetaKeys},
                                    decoder.headDim, decoder.rope)) &&
                 (decoder.slidingRope = decoder.rope, true));
}

/// The layers of one iteration.
static std::vector<Layer> describeBody(const ConfigFile &config,
                                       const Traits &traits,
                                       const Decoder &decoder, LayerKind kind) {
  AttentionLayer attention{"attention", decoder.heads};
  attention.kvHeads = decoder.kvHeads;
  attention.headDim = decoder.headDim;
  attention.scale = decoder.scale;
  attention.bias = decoder.attentionBias;
  if (traits.attentionBias == AttentionBias::QueryKeyAndValue)
    attention.outputBias = false;
  attention.causal = true;
  if (kind.isSliding)
    attention.window = decoder.windows.size;
  attention.softcap = decoder.scoreCap;
  attention.rope = kind.isSliding ? decoder.slidingRope : decoder.rope;
  attention.qkNorm = traits.qkNorm;
  attention.qkNormEps = decoder.eps;
  attention.qkNormUnitOffset = traits.unitOffset;
  Location intermediate = config.getLocation("intermediate_size");
  Layer feedForward{intermediate,
                    GatedLayer{"feed_forward", decoder.intermediate,
                               decoder.activation, decoder.feedForwardBias}};
  if (kind.isSparse)
    feedForward = {config.getLocation("num_experts_per_tok"),
                   *decoder.experts.layer};

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
  return {branch(heads, "attention", {heads, attention}),
          branch(intermediate, "feed_forward", feedForward)};
}

/// The layers as the shortest period that they repeat.
static RepeatLayer describeRepeat(const ConfigFile &config,
                                  const Traits &traits,
                                  const Decoder &decoder) {
  std::vector<LayerKind> layers;
  for (int64_t i = 0; i < decoder.layers; ++i)
    layers.push_back(
        {decoder.windows.isSliding[i], decoder.experts.isSparse[i]});
  llvm::ArrayRef<LayerKind> kinds = layers;
  size_t period = 1;
  while (kinds.drop_front(period) != kinds.drop_back(period))
    ++period;
  RepeatLayer repeat{decoder.layers, {}};
  for (LayerKind kind : kinds.take_front(period))
    repeat.period.push_back(describeBody(config, traits, decoder, kind));
  return repeat;
}

LogicalResult hexad::llama::describeDecoder(const ConfigFile &config,
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
  model.push_back({config.getLocation("num_hidden_layers"),
                   describeRepeat(config, traits, decoder)});
  model.push_back({config.getLocation("rms_norm_eps"),
                   RmsNormLayer{"final_norm", decoder.eps, traits.unitOffset}});
  addDecoderHead(config, architecture,
                 {decoder.vocabulary, decoder.tied, decoder.headCap}, model);
  return success();
}
