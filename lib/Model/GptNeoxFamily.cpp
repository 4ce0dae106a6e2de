//===- GptNeoxFamily.cpp - Checkpoint folders of model type gpt_neox ------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Black et al., "GPT-NeoX-20B: An Open-Source Autoregressive Language Model",
// arXiv:2204.06745.
//
//===----------------------------------------------------------------------===//

#include "DecoderConfig.h"
#include "Family.h"
#include "RopeConfig.h"

using namespace mlir;
using namespace hexad;

static constexpr NameStem stems[] = {
    {"words", "embed_in", true},
    {"attention_norm", "layers.{i}.input_layernorm", true},
    {"attention.qkv", "layers.{i}.attention.query_key_value", true},
    {"attention.output", "layers.{i}.attention.dense", true},
    {"feed_forward_norm", "layers.{i}.post_attention_layernorm", true},
    {"up", "layers.{i}.mlp.dense_h_to_4h", true},
    {"down", "layers.{i}.mlp.dense_4h_to_h", true},
    {"final_norm", "final_layer_norm", true},
    {"head", "embed_out", false}};

static constexpr llvm::StringLiteral leftovers[] = {
    "embed_out.weight", "layers.*.attention.bias",
    "layers.*.attention.masked_bias", "layers.*.attention.rotary_emb.inv_freq",
    "rotary_emb.inv_freq"};

static constexpr llvm::StringLiteral readKeys[] = {"architectures",
                                                   "attention_bias",
                                                   "hidden_act",
                                                   "hidden_size",
                                                   "intermediate_size",
                                                   "layer_norm_eps",
                                                   "max_position_embeddings",
                                                   "model_type",
                                                   "num_attention_heads",
                                                   "num_hidden_layers",
                                                   "partial_rotary_factor",
                                                   "rope_parameters",
                                                   "rope_scaling",
                                                   "rope_theta",
                                                   "rotary_emb_base",
                                                   "rotary_pct",
                                                   "tie_word_embeddings",
                                                   "use_parallel_residual",
                                                   "vocab_size"};

static constexpr FixedKey fixedKeys[] = {{"add_cross_attention", "false"},
                                         {"is_encoder_decoder", "false"},
                                         {"pruned_heads", "{}"},
                                         {"tie_encoder_decoder", "false"}};

static constexpr llvm::StringLiteral inertKeys[] = {
    "attention_dropout",
    "attention_probs_dropout_prob",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "hidden_dropout",
    "hidden_dropout_prob",
    "is_decoder"};

static constexpr llvm::StringLiteral architectures[] = {"GPTNeoXForCausalLM",
                                                        "GPTNeoXModel"};

static constexpr llvm::StringLiteral thetaKeys[] = {"rotary_emb_base",
                                                    "rope_theta"};
static constexpr llvm::StringLiteral partialKeys[] = {"rotary_pct",
                                                      "partial_rotary_factor"};

static LogicalResult describeGptNeox(const ConfigFile &config,
                                     llvm::StringRef architecture,
                                     Description &description) {
  int64_t hidden, intermediate, layers, heads, vocabulary;
  double eps;
  Activation activation;
  bool tied, bias, parallel;
  if (failed(config.readSize("hidden_size", maxDimension, hidden)) ||
      failed(
          config.readSize("intermediate_size", maxDimension, intermediate)) ||
      failed(config.readSize("num_hidden_layers", maxRepeat, layers)) ||
      failed(config.readSize("num_attention_heads", maxDimension, heads)) ||
      failed(config.readSize("vocab_size", maxDimension, vocabulary)) ||
      failed(config.readNumber("layer_norm_eps", eps, 1e-5)) ||
      failed(config.readActivation("hidden_act", activation, "gelu")) ||
      failed(config.readFlag("tie_word_embeddings", tied, false)) ||
      failed(config.readFlag("attention_bias", bias, true)) ||
      failed(config.readFlag("use_parallel_residual", parallel, true)) ||
      failed(checkDivides(config, "num_attention_heads", heads, "hidden_size",
                          hidden)))
    return failure();
  RopeKeys ropeKeys{/*theta=*/10000, thetaKeys, /*partialFactor=*/0.25,
                    partialKeys};
  RopeDescription rope;
  if (failed(readRope(config, ropeKeys, hidden / heads, rope)))
    return failure();

  auto at = [&](llvm::StringRef key) { return config.getLocation(key); };
  auto norm = [&](std::string name) {
    return Layer{at("layer_norm_eps"), LayerNormLayer{name, eps}};
  };
  auto linear = [&](std::string name, int64_t out) {
    return Layer{at("intermediate_size"),
                 LinearLayer{name, out, /*bias=*/true}};
  };
  AttentionLayer attention{"attention", heads};
  attention.bias = bias;
  attention.causal = true;
  attention.rope = rope;
  attention.fused = FusedLayout::Heads;

  std::vector<Layer> attentionBranch = {norm("attention_norm"),
                                        {at("num_attention_heads"), attention}};
  std::vector<Layer> feedForward = {
      norm("feed_forward_norm"),
      linear("up", intermediate),
      {at("hidden_act"), ActivationLayer{activation}},
      linear("down", hidden)};
  std::vector<Layer> body;
  if (parallel) {
    body.push_back({at("use_parallel_residual"),
                    ParallelLayer{{attentionBranch, feedForward}}});
  } else {
    body.push_back({at("num_attention_heads"), ResidualLayer{attentionBranch}});
    body.push_back({at("intermediate_size"), ResidualLayer{feedForward}});
  }

  addDecoderInputs(config, description);
  description.hiddenAfterNorm = true;
  std::vector<Layer> &model = description.layers;
  model.push_back({at("vocab_size"),
                   EmbeddingLayer{"words", "input_ids", vocabulary, hidden}});
  model.push_back({at("num_hidden_layers"), RepeatLayer{layers, {body}}});
  model.push_back(norm("final_norm"));
  addDecoderHead(config, architecture, {vocabulary, tied}, model);
  return success();
}

const Family hexad::gptNeoxFamily = {
    {"gpt_neox", "gpt_neox.", stems, leftovers},
    {readKeys, fixedKeys, inertKeys},
    architectures,
    describeGptNeox};
