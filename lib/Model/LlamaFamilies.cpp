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

#include "LlamaDecoder.h"
#include "LlamaTables.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::llama;

//===----------------------------------------------------------------------===//
// Names of tensors
//===----------------------------------------------------------------------===//

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

static constexpr auto stemsBehind = concatenate(commonStems, normsBehind);
static constexpr auto stemsAround = concatenate(commonStems, normsAround);

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

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

/// What the configuration says about biases does not count in qwen2.
static constexpr llvm::StringLiteral ownQwen2InertKeys[] = {"attention_bias"};
static constexpr auto qwen2InertKeys =
    concatenate(inertKeys, ownQwen2InertKeys);

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
