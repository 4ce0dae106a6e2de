//===- ExpertFamilies.cpp - Checkpoint folders of mixtures of experts -----===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Jiang et al., "Mixtral of Experts", arXiv:2401.04088; Qwen Team, "Qwen3
// Technical Report", arXiv:2505.09388. Experts are stored as one tensor for
// each and, by newer programs, as one for all of a layer.
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

static constexpr NameStem ownStems[] = {
    {"experts.router", "layers.{i}.mlp.gate", true},
    {"experts.gate_up", "layers.{i}.mlp.experts.gate_up_proj", true},
    {"experts.gate", "layers.{i}.mlp.experts.{e}.gate_proj", true},
    {"experts.up", "layers.{i}.mlp.experts.{e}.up_proj", true},
    {"experts.down", "layers.{i}.mlp.experts.down_proj", true},
    {"experts.down", "layers.{i}.mlp.experts.{e}.down_proj", true}};
static constexpr auto stems = concatenate(stemsBefore, ownStems);

static constexpr NameStem ownMixtralStems[] = {
    {"experts.router", "layers.{i}.mlp.gate", true},
    {"experts.router", "layers.{i}.block_sparse_moe.gate", true},
    {"experts.gate_up", "layers.{i}.mlp.experts.gate_up_proj", true},
    {"experts.gate", "layers.{i}.block_sparse_moe.experts.{e}.w1", true},
    {"experts.up", "layers.{i}.block_sparse_moe.experts.{e}.w3", true},
    {"experts.down", "layers.{i}.mlp.experts.down_proj", true},
    {"experts.down", "layers.{i}.block_sparse_moe.experts.{e}.w2", true}};
static constexpr auto mixtralStems = concatenate(stemsBefore, ownMixtralStems);

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral ownMixtralKeys[] = {
    "hidden_act", "num_experts", "num_experts_per_tok", "num_local_experts",
    "sliding_window"};
static constexpr auto mixtralKeys = concatenate(commonKeys, ownMixtralKeys);

static constexpr llvm::StringLiteral ownQwen3MoeKeys[] = {
    "attention_bias",  "decoder_sparse_step", "hidden_act",
    "mlp_only_layers", "norm_topk_prob",      "moe_intermediate_size",
    "num_experts",     "num_experts_per_tok", "num_local_experts",
    "sliding_window",  "use_sliding_window"};
static constexpr auto qwen3MoeKeys = concatenate(commonKeys, ownQwen3MoeKeys);

/// What the router does in training, and `max_window_layers`, which no layer of
/// qwen3_moe asks for.
static constexpr llvm::StringLiteral ownInertKeys[] = {
    "max_window_layers", "output_router_logits", "router_aux_loss_coef",
    "router_jitter_noise"};
static constexpr auto expertsInertKeys = concatenate(inertKeys, ownInertKeys);

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral mixtralArchitectures[] = {
    "MixtralForCausalLM", "MixtralModel"};
const Family hexad::mixtralFamily = {
    {"mixtral", "model.", mixtralStems, leftovers},
    {mixtralKeys, fixedKeys, expertsInertKeys},
    mixtralArchitectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.eps = 1e-5,
                              .windows = WindowRule::AllLayersIfGiven,
                              .theta = 1e6,
                              .experts = ExpertsRule::AllLayers},
                             description);
    }};

static constexpr llvm::StringLiteral qwen3MoeArchitectures[] = {
    "Qwen3MoeForCausalLM", "Qwen3MoeModel"};
const Family hexad::qwen3MoeFamily = {
    {"qwen3_moe", "model.", stems, leftovers},
    {qwen3MoeKeys, fixedKeys, expertsInertKeys},
    qwen3MoeArchitectures,
    [](const ConfigFile &config, llvm::StringRef architecture,
       Description &description) {
      return describeDecoder(config, architecture,
                             {.qkNorm = QkNorm::Heads,
                              .attentionBias = AttentionBias::Key,
                              .windows = WindowRule::AllLayersIfUsed,
                              .experts = ExpertsRule::SparseSteps},
                             description);
    }};
