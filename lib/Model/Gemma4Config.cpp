//===- Gemma4Config.cpp - config.json of Gemma 4 --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemma4Config.h"
#include "DecoderConfig.h"
#include "LayerWindows.h"
#include "RopeConfig.h"
#include "hexad/Model/Json.h"

using namespace mlir;
using namespace hexad;

static constexpr llvm::StringLiteral thetaKeys[] = {"rope_theta"};

/// Image tokens may see each other both ways; there are none here.
static LogicalResult checkDirection(const ConfigFile &config) {
  constexpr llvm::StringLiteral key = "use_bidirectional_attention";
  const llvm::json::Value *value = config.find(key);
  if (!value || value->getAsString() == "vision" ||
      value->getAsBoolean() == false)
    return success();
  return config.expected(key, "null or \"vision\"");
}

/// What `per_layer_config` says of some layers.
static LogicalResult readLayerConfigs(const ConfigFile &config,
                                      const ConfigFile &layers,
                                      std::vector<LayerShape> &shapes) {
  constexpr llvm::StringLiteral keys[] = {"head_dim", "num_key_value_heads"};
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::optional<ConfigFile> layer;
    if (failed(layers.openObject(std::to_string(i), layer)))
      return failure();
    if (!layer)
      continue;
    if (failed(layer->checkKeys({keys, {}, {}})) ||
        failed(layer->readSize("head_dim", maxDimension, shapes[i].headDim,
                               shapes[i].headDim)) ||
        failed(layer->readSize("num_key_value_heads", maxDimension,
                               shapes[i].kvHeads, shapes[i].kvHeads)))
      return failure();
  }
  for (const auto &entry : *config.find("per_layer_config")->getAsObject()) {
    uint64_t number;
    // "01" is a number, but not one that is looked up.
    if (llvm::StringRef(entry.first).getAsInteger(10, number) ||
        number >= shapes.size() || entry.first.str() != std::to_string(number))
      return emitError(layers.getLocation(entry.first),
                       "expected a layer from 0 to ")
             << shapes.size() - 1 << ", found " << quoteName(entry.first.str());
  }
  return success();
}

/// Sizes of heads: those of layers without a window have keys of their own, or
/// each layer may have its object.
static LogicalResult readHeadShapes(const ConfigFile &config,
                                    Gemma4Config &model) {
  int64_t headDim, kvHeads, globalHeadDim, globalKvHeads;
  std::optional<ConfigFile> layers;
  if (failed(
          config.readSize("num_attention_heads", maxDimension, model.heads)) ||
      failed(config.readSize("head_dim", maxDimension, headDim, 256)) ||
      failed(config.readSize("num_key_value_heads", maxDimension, kvHeads,
                             model.heads)) ||
      failed(config.readSize("global_head_dim", maxDimension, globalHeadDim,
                             512)) ||
      failed(config.readSize("num_global_key_value_heads", maxDimension,
                             globalKvHeads, kvHeads)) ||
      failed(config.openObject("per_layer_config", layers)))
    return failure();
  for (LayerShape &layer : model.layers) {
    bool isGlobal = !layers && !layer.sliding;
    layer.headDim = isGlobal ? globalHeadDim : headDim;
    layer.kvHeads = isGlobal && model.valueFromKey ? globalKvHeads : kvHeads;
  }
  if (layers && config.find("global_head_dim"))
    return config.expected("global_head_dim", "absent beside per_layer_config");
  if (layers && failed(readLayerConfigs(config, *layers, model.layers)))
    return failure();
  for (const LayerShape &layer : model.layers)
    if (failed(checkDivides(config, "num_key_value_heads", layer.kvHeads,
                            "num_attention_heads", model.heads)))
      return failure();
  return success();
}

/// Which layers attend to the keys of which others, and how wide feed-forward
/// layers are.
static LogicalResult readSharing(const ConfigFile &config,
                                 Gemma4Config &model) {
  int64_t intermediate, shared, count = model.layers.size();
  bool doubleWide;
  if (failed(config.readSize("intermediate_size", maxDimension / 2,
                             intermediate)) ||
      failed(config.readInteger("num_kv_shared_layers", 0, count - 1, shared,
                                0)) ||
      failed(config.readFlag("use_double_wide_mlp", doubleWide, false)))
    return failure();
  model.ownLayers = count - shared;
  for (auto [i, layer] : llvm::enumerate(model.layers)) {
    bool isShared = static_cast<int64_t>(i) >= model.ownLayers;
    layer.intermediate =
        isShared && doubleWide ? 2 * intermediate : intermediate;
    if (!isShared)
      continue;
    int64_t source = model.ownLayers - 1;
    while (source >= 0 && model.layers[source].sliding != layer.sliding)
      --source;
    if (source < 0)
      return emitError(config.getLocation("num_kv_shared_layers"),
                       "expected a layer of the kind of layer ")
             << i << " among the first " << model.ownLayers
             << ", for it to attend to its keys";
    const LayerShape &owner = model.layers[source];
    if (owner.headDim != layer.headDim || owner.kvHeads != layer.kvHeads)
      return emitError(config.getLocation("num_kv_shared_layers"),
                       "expected layer ")
             << i << " to have heads like layer " << source
             << ", to whose keys it attends";
    layer.keysOf = source;
  }
  return success();
}

static LogicalResult readExperts(const ConfigFile &config,
                                 Gemma4Config &model) {
  bool hasExperts;
  model.experts = 0;
  if (failed(config.readFlag("enable_moe_block", hasExperts, false)))
    return failure();
  if (!hasExperts)
    return success();
  return success(
      succeeded(config.readSize("num_experts", maxExperts, model.experts)) &&
      succeeded(
          config.readSize("top_k_experts", model.experts, model.topExperts)) &&
      succeeded(config.readSize("moe_intermediate_size", maxDimension,
                                model.expertHidden)));
}

static LogicalResult readLayerInput(const ConfigFile &config,
                                    Gemma4Config &model) {
  constexpr llvm::StringLiteral key = "hidden_size_per_layer_input";
  model.layerInput = 0;
  if (config.contains(key) && !config.find(key))
    return success();
  return success(
      succeeded(
          config.readInteger(key, 0, maxDimension, model.layerInput, 256)) &&
      succeeded(config.readSize("vocab_size_per_layer_input", maxDimension,
                                model.layerInputEntries, 262144)));
}

/// Columns of the heads of all layers of a kind, which share one table; 0 if
/// there are none.
static LogicalResult findHeadDim(const ConfigFile &config,
                                 const Gemma4Config &model, bool sliding,
                                 int64_t &headDim) {
  headDim = 0;
  for (const LayerShape &layer : model.layers) {
    if (layer.sliding != sliding)
      continue;
    if (headDim && headDim != layer.headDim)
      return emitError(config.getLocation("per_layer_config"),
                       "expected all layers of a kind to have the same "
                       "head_dim, found ")
             << headDim << " and " << layer.headDim;
    headDim = layer.headDim;
  }
  return success();
}

static LogicalResult readRotations(const ConfigFile &config,
                                   Gemma4Config &model) {
  int64_t fullDim, slidingDim;
  if (failed(findHeadDim(config, model, false, fullDim)) ||
      failed(findHeadDim(config, model, true, slidingDim)))
    return failure();
  if (!config.find("rope_parameters")) {
    model.rope.theta = 1e6;
    model.rope.scaling.kind = RopeScaling::Proportional;
    model.rope.scaling.share = 0.25;
    return success();
  }
  std::optional<ConfigFile> parameters;
  if (failed(config.openObject("rope_parameters", parameters)))
    return failure();
  for (auto [key, columns] : {std::pair("full_attention", fullDim),
                              std::pair("sliding_attention", slidingDim)})
    if (columns && !parameters->find(key))
      return parameters->expected(key, "an object: there are such layers");
  RopeKeys full{/*theta=*/1e6, thetaKeys}, sliding{/*theta=*/1e4, thetaKeys};
  return readRopeOfLayerTypes(config, full, sliding, fullDim, slidingDim,
                              model.rope, model.slidingRope);
}

LogicalResult hexad::readGemma4Config(const ConfigFile &config,
                                      Gemma4Config &model) {
  int64_t layers;
  LayerWindows windows;
  if (failed(checkDirection(config)) ||
      failed(config.readSize("hidden_size", maxDimension, model.hidden)) ||
      failed(config.readSize("num_hidden_layers", maxRepeat, layers)) ||
      failed(config.readSize("vocab_size", maxDimension, model.vocabulary)) ||
      failed(config.readNumber("rms_norm_eps", model.eps, 1e-6)) ||
      failed(config.readActivation("hidden_activation", model.activation,
                                   "gelu_pytorch_tanh")) ||
      failed(config.readFlag("tie_word_embeddings", model.tied, true)) ||
      failed(config.readFlag("attention_bias", model.attentionBias, false)) ||
      failed(config.readFlag("attention_k_eq_v", model.valueFromKey, false)) ||
      failed(readExperts(config, model)) ||
      failed(readLayerWindows(config, WindowRule::PatternBeforeLast, layers,
                              windows)))
    return failure();
  if (config.find("final_logit_softcapping") &&
      failed(config.readPositive("final_logit_softcapping",
                                 model.headCap.emplace())))
    return failure();
  model.window = windows.size;
  for (bool sliding : windows.isSliding)
    model.layers.push_back({sliding, 0, 0, 0});
  return success(succeeded(readHeadShapes(config, model)) &&
                 succeeded(readSharing(config, model)) &&
                 succeeded(readLayerInput(config, model)) &&
                 succeeded(readRotations(config, model)));
}
