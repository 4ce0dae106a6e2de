//===- Gpt2Family.cpp - Checkpoint folders of model type gpt2 -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
//
//===----------------------------------------------------------------------===//

#include "DecoderConfig.h"
#include "Family.h"

using namespace mlir;
using namespace hexad;

static constexpr NameStem stems[] = {
    {"words", "wte", true},
    {"positions", "wpe", true},
    {"attention_norm", "h.{i}.ln_1", true},
    {"attention.qkv", "h.{i}.attn.c_attn", true},
    {"attention.output", "h.{i}.attn.c_proj", true},
    {"feed_forward_norm", "h.{i}.ln_2", true},
    {"up", "h.{i}.mlp.c_fc", true},
    {"down", "h.{i}.mlp.c_proj", true},
    {"final_norm", "ln_f", true},
    {"head", "lm_head", false}};

static constexpr llvm::StringLiteral leftovers[] = {
    "h.*.attn.bias", "h.*.attn.masked_bias", "lm_head.weight"};

static constexpr llvm::StringLiteral readKeys[] = {"activation_function",
                                                   "architectures",
                                                   "layer_norm_epsilon",
                                                   "model_type",
                                                   "n_embd",
                                                   "n_head",
                                                   "n_inner",
                                                   "n_layer",
                                                   "n_positions",
                                                   "tie_word_embeddings",
                                                   "vocab_size"};

static constexpr FixedKey fixedKeys[] = {
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"pruned_heads", "{}"},
    {"scale_attn_by_inverse_layer_idx", "false"},
    {"scale_attn_weights", "true"},
    {"tie_encoder_decoder", "false"}};

static constexpr llvm::StringLiteral inertKeys[] = {
    "attn_pdrop",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "embd_pdrop",
    "is_decoder",
    "n_ctx",
    "reorder_and_upcast_attn",
    "resid_pdrop",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj"};

static constexpr llvm::StringLiteral architectures[] = {"GPT2LMHeadModel",
                                                        "GPT2Model"};

static LogicalResult describeGpt2(const ConfigFile &config,
                                  llvm::StringRef architecture,
                                  Description &description) {
  int64_t hidden, intermediate, layers, heads, vocabulary, positions;
  double eps;
  Activation activation;
  bool tied;
  if (failed(config.readSize("n_embd", maxDimension / 4, hidden)) ||
      failed(
          config.readSize("n_inner", maxDimension, intermediate, 4 * hidden)) ||
      failed(config.readSize("n_layer", maxRepeat, layers)) ||
      failed(config.readSize("n_head", maxDimension, heads)) ||
      failed(config.readSize("vocab_size", maxDimension, vocabulary)) ||
      failed(config.readSize("n_positions", maxDimension, positions)) ||
      failed(config.readNumber("layer_norm_epsilon", eps, 1e-5)) ||
      failed(config.readActivation("activation_function", activation,
                                   "gelu_new")) ||
      failed(config.readFlag("tie_word_embeddings", tied, true)) ||
      failed(checkDivides(config, "n_head", heads, "n_embd", hidden)))
    return failure();

  auto at = [&](llvm::StringRef key) { return config.getLocation(key); };
  auto norm = [&](std::string name) {
    return Layer{at("layer_norm_epsilon"), LayerNormLayer{name, eps}};
  };
  Location inner = at(config.contains("n_inner") ? "n_inner" : "n_embd");
  auto linear = [&](std::string name, int64_t out) {
    return Layer{inner, LinearLayer{name, out, /*bias=*/true,
                                    /*transposed=*/true}};
  };
  AttentionLayer attention{"attention", heads};
  attention.bias = true;
  attention.causal = true;
  attention.fused = FusedLayout::Blocks;
  attention.transposed = true;

  addDecoderInputs(config, description);
  description.hiddenAfterNorm = true;
  std::vector<Layer> &model = description.layers;
  model.push_back(
      {at("n_embd"),
       SumLayer{{{at("vocab_size"),
                  EmbeddingLayer{"words", "input_ids", vocabulary, hidden}},
                 {at("n_positions"),
                  PositionsLayer{"positions", positions, hidden}}}}});
  model.push_back(
      {at("n_layer"),
       RepeatLayer{layers,
                   {{{at("n_head"), ResidualLayer{{norm("attention_norm"),
                                                   {at("n_head"), attention}}}},
                     {inner, ResidualLayer{{norm("feed_forward_norm"),
                                            linear("up", intermediate),
                                            {at("activation_function"),
                                             ActivationLayer{activation}},
                                            linear("down", hidden)}}}}}}});
  model.push_back(norm("final_norm"));
  addDecoderHead(config, architecture, {vocabulary, tied}, model);
  return success();
}

const Family hexad::gpt2Family = {{"gpt2", "transformer.", stems, leftovers},
                                  {readKeys, fixedKeys, inertKeys},
                                  architectures,
                                  describeGpt2};
