//===- VitFamily.cpp - Checkpoint folders of model type vit ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dosovitskiy et al., "An Image is Worth 16x16 Words: Transformers for Image
// Recognition at Scale", arXiv:2010.11929.
//
//===----------------------------------------------------------------------===//

#include "Family.h"
#include "VisionConfig.h"

using namespace mlir;
using namespace hexad;

static constexpr NameStem stems[] = {
    {"patches", "embeddings.patch_embeddings.projection", true},
    {"patches.class_token", "embeddings.cls_token", true},
    {"positions", "embeddings.position_embeddings", true},
    {"attention_norm", "encoder.layer.{i}.layernorm_before", true},
    {"attention.query", "encoder.layer.{i}.attention.attention.query", true},
    {"attention.key", "encoder.layer.{i}.attention.attention.key", true},
    {"attention.value", "encoder.layer.{i}.attention.attention.value", true},
    {"attention.output", "encoder.layer.{i}.attention.output.dense", true},
    {"feed_forward_norm", "encoder.layer.{i}.layernorm_after", true},
    {"up", "encoder.layer.{i}.intermediate.dense", true},
    {"down", "encoder.layer.{i}.output.dense", true},
    {"final_norm", "layernorm", true},
    {"pooler", "pooler.dense", true},
    {"classifier", "classifier", false}};

/// Of heads for classes and for masked patches.
static constexpr llvm::StringLiteral leftovers[] = {
    "pooler.dense.*", "classifier.*", "embeddings.mask_token", "decoder.*"};

static constexpr llvm::StringLiteral readKeys[] = {
    "architectures",  "hidden_act",        "hidden_size",
    "id2label",       "image_size",        "intermediate_size",
    "layer_norm_eps", "model_type",        "num_attention_heads",
    "num_channels",   "num_hidden_layers", "num_labels",
    "patch_size",     "pooler_act",        "pooler_output_size",
    "qkv_bias"};

static constexpr FixedKey fixedKeys[] = {{"is_decoder", "false"},
                                         {"is_encoder_decoder", "false"},
                                         {"pruned_heads", "{}"}};

static constexpr llvm::StringLiteral inertKeys[] = {
    "attention_probs_dropout_prob", "chunk_size_feed_forward", "encoder_stride",
    "hidden_dropout_prob", "tie_word_embeddings"};

static constexpr llvm::StringLiteral architectures[] = {
    "ViTForImageClassification", "ViTModel"};

static LogicalResult describeVit(const ConfigFile &config,
                                 llvm::StringRef architecture,
                                 Description &description) {
  VisionConfig vision;
  int64_t intermediate, pooled;
  Activation poolerActivation;
  if (failed(vision.read(config, /*eps=*/1e-12, /*patch=*/16)) ||
      failed(
          config.readSize("intermediate_size", maxDimension, intermediate)) ||
      failed(config.readSize("pooler_output_size", maxDimension, pooled,
                             vision.hidden)) ||
      failed(config.readActivation("pooler_act", poolerActivation, "tanh")))
    return failure();

  auto at = [&](llvm::StringRef key) { return config.getLocation(key); };
  auto linear = [&](llvm::StringRef key, std::string name, int64_t out) {
    return Layer{at(key), LinearLayer{name, out, /*bias=*/true}};
  };
  vision.addPatches(config, /*registers=*/0, /*antialias=*/false, description);
  std::vector<Layer> &model = description.layers;
  Layer attention{at("num_attention_heads"),
                  ResidualLayer{{vision.makeNorm(config, "attention_norm"),
                                 vision.makeAttention(config)}}};
  Layer feedForward{
      at("intermediate_size"),
      ResidualLayer{{vision.makeNorm(config, "feed_forward_norm"),
                     linear("intermediate_size", "up", intermediate),
                     {at("hidden_act"), ActivationLayer{vision.activation}},
                     linear("intermediate_size", "down", vision.hidden)}}};
  model.push_back({at("num_hidden_layers"),
                   RepeatLayer{vision.layers, {{attention, feedForward}}}});
  model.push_back(vision.makeNorm(config, "final_norm"));
  Location head = at("architectures");
  model.push_back({head, OutputLayer{"last_hidden_state"}});
  model.push_back({head, PoolLayer{Pooling::First}});
  if (architecture == "ViTModel") {
    model.push_back(linear("pooler_output_size", "pooler", pooled));
    model.push_back({at("pooler_act"), ActivationLayer{poolerActivation}});
    model.push_back({head, OutputLayer{"pooler_output"}});
    return success();
  }
  model.push_back(linear("architectures", "classifier", vision.labels));
  model.push_back({head, OutputLayer{"logits"}});
  return success();
}

const Family hexad::vitFamily = {{"vit", "vit.", stems, leftovers},
                                 {readKeys, fixedKeys, inertKeys},
                                 architectures,
                                 describeVit};
