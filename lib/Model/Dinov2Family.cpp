//===- Dinov2Family.cpp - Checkpoint folders of model type dinov2 ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Oquab et al., "DINOv2: Learning Robust Visual Features without Supervision",
// arXiv:2304.07193; Darcet et al., "Vision Transformers Need Registers",
// arXiv:2309.16588.
//
//===----------------------------------------------------------------------===//

#include "Family.h"
#include "VisionConfig.h"

using namespace mlir;
using namespace hexad;

static constexpr NameStem stems[] = {
    {"patches", "embeddings.patch_embeddings.projection", true},
    {"patches.class_token", "embeddings.cls_token", true},
    {"patches.registers", "embeddings.register_tokens", true},
    {"positions", "embeddings.position_embeddings", true},
    {"attention_norm", "encoder.layer.{i}.norm1", true},
    {"attention.query", "encoder.layer.{i}.attention.attention.query", true},
    {"attention.key", "encoder.layer.{i}.attention.attention.key", true},
    {"attention.value", "encoder.layer.{i}.attention.attention.value", true},
    {"attention.output", "encoder.layer.{i}.attention.output.dense", true},
    {"attention_scale", "encoder.layer.{i}.layer_scale1.lambda1", true},
    {"feed_forward_norm", "encoder.layer.{i}.norm2", true},
    {"up", "encoder.layer.{i}.mlp.fc1", true},
    {"down", "encoder.layer.{i}.mlp.fc2", true},
    {"feed_forward.gate_up", "encoder.layer.{i}.mlp.weights_in", true},
    {"feed_forward.down", "encoder.layer.{i}.mlp.weights_out", true},
    {"feed_forward_scale", "encoder.layer.{i}.layer_scale2.lambda1", true},
    {"final_norm", "layernorm", true},
    {"classifier", "classifier", false},
    {"patches_classifier", "classifier", false}};

static constexpr llvm::StringLiteral leftovers[] = {"classifier.*",
                                                    "embeddings.mask_token"};

static constexpr llvm::StringLiteral readKeys[] = {"architectures",
                                                   "hidden_act",
                                                   "hidden_size",
                                                   "id2label",
                                                   "image_size",
                                                   "layer_norm_eps",
                                                   "mlp_ratio",
                                                   "model_type",
                                                   "num_attention_heads",
                                                   "num_channels",
                                                   "num_hidden_layers",
                                                   "num_labels",
                                                   "num_register_tokens",
                                                   "patch_size",
                                                   "qkv_bias",
                                                   "use_swiglu_ffn"};

static constexpr FixedKey fixedKeys[] = {{"is_decoder", "false"},
                                         {"is_encoder_decoder", "false"},
                                         {"pruned_heads", "{}"}};

/// How weights begin, what training masks, and what a backbone gives.
static constexpr llvm::StringLiteral inertKeys[] = {
    "apply_layernorm",
    "attention_probs_dropout_prob",
    "chunk_size_feed_forward",
    "drop_path_rate",
    "hidden_dropout_prob",
    "layerscale_value",
    "out_features",
    "out_indices",
    "reshape_hidden_states",
    "stage_names",
    "tie_word_embeddings",
    "use_mask_token"};

/// The layers of the feed-forward part, between norm and layer scale.
static FailureOr<std::vector<Layer>>
describeFeedForward(const ConfigFile &config, const VisionConfig &vision) {
  double ratio;
  bool isGated;
  if (failed(config.readPositive("mlp_ratio", ratio, 4)) ||
      failed(config.readFlag("use_swiglu_ffn", isGated, false)))
    return failure();
  double product = vision.hidden * ratio;
  if (product < 1 || product > maxDimension)
    return config.expected("mlp_ratio", "the columns of the feed-forward part "
                                        "by hidden_size");
  auto hidden = static_cast<int64_t>(product);
  Location loc = config.getLocation("mlp_ratio");
  if (isGated) {
    // Two thirds for three matrices in place of two, rounded to eights.
    GatedLayer gated{"feed_forward", (hidden * 2 / 3 + 7) / 8 * 8,
                     Activation::Silu, /*bias=*/true};
    gated.fused = true;
    return std::vector<Layer>{{loc, gated}};
  }
  return std::vector<Layer>{
      {loc, LinearLayer{"up", hidden, /*bias=*/true}},
      {config.getLocation("hidden_act"), ActivationLayer{vision.activation}},
      {loc, LinearLayer{"down", vision.hidden, /*bias=*/true}}};
}

/// A linear layer on the class token and the mean of the patches, side by side:
/// the sum of one on each.
static Layer makeClassifier(Location loc, const VisionConfig &vision,
                            int64_t prefix) {
  LinearLayer ofClass{"classifier", vision.labels, /*bias=*/true};
  ofClass.firstColumn = 0;
  LinearLayer ofPatches{"patches_classifier", vision.labels};
  ofPatches.firstColumn = vision.hidden;
  ParallelLayer sum;
  sum.isResidual = false;
  sum.branches = {{{loc, PoolLayer{Pooling::First}}, {loc, ofClass}},
                  {{loc, PoolLayer{Pooling::Mean, prefix}}, {loc, ofPatches}}};
  return {loc, sum};
}

/// Both kinds of models, with and without registers.
static LogicalResult describeModel(const ConfigFile &config, bool isClassifier,
                                   bool hasRegisters,
                                   Description &description) {
  VisionConfig vision;
  int64_t registers = 0;
  if (failed(vision.read(config, /*eps=*/1e-6, /*patch=*/14)) ||
      (hasRegisters && failed(config.readInteger("num_register_tokens", 0,
                                                 maxDimension, registers, 4))))
    return failure();
  FailureOr<std::vector<Layer>> feedForward =
      describeFeedForward(config, vision);
  if (failed(feedForward))
    return failure();

  Location layersLoc = config.getLocation("num_hidden_layers");
  auto makeScale = [&](std::string name) {
    return Layer{layersLoc, ScaleColumnsLayer{name}};
  };
  vision.addPatches(config, registers, /*antialias=*/hasRegisters, description);
  feedForward->insert(feedForward->begin(),
                      vision.makeNorm(config, "feed_forward_norm"));
  feedForward->push_back(makeScale("feed_forward_scale"));
  std::vector<Layer> &model = description.layers;
  model.push_back(
      {layersLoc,
       RepeatLayer{vision.layers,
                   {{{layersLoc,
                      ResidualLayer{{vision.makeNorm(config, "attention_norm"),
                                     vision.makeAttention(config),
                                     makeScale("attention_scale")}}},
                     {layersLoc, ResidualLayer{std::move(*feedForward)}}}}}});
  model.push_back(vision.makeNorm(config, "final_norm"));
  Location head = config.getLocation("architectures");
  model.push_back({head, OutputLayer{"last_hidden_state"}});
  if (isClassifier) {
    model.push_back(makeClassifier(head, vision, 1 + registers));
    model.push_back({head, OutputLayer{"logits"}});
    return success();
  }
  model.push_back({head, PoolLayer{Pooling::First}});
  model.push_back({head, OutputLayer{"pooler_output"}});
  return success();
}

static constexpr llvm::StringLiteral architectures[] = {
    "Dinov2ForImageClassification", "Dinov2Model"};

const Family hexad::dinov2Family = {
    {"dinov2", "dinov2.", stems, leftovers},
    {readKeys, fixedKeys, inertKeys},
    architectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeModel(config, architecture != "Dinov2Model",
                           /*hasRegisters=*/false, description);
    }};

static constexpr llvm::StringLiteral registerArchitectures[] = {
    "Dinov2WithRegistersForImageClassification", "Dinov2WithRegistersModel"};

const Family hexad::dinov2WithRegistersFamily = {
    {"dinov2_with_registers", "dinov2_with_registers.", stems, leftovers},
    {readKeys, fixedKeys, inertKeys},
    registerArchitectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeModel(config, architecture != "Dinov2WithRegistersModel",
                           /*hasRegisters=*/true, description);
    }};
