//===- LlamaTables.h - Names and keys of models like llama ------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_LLAMATABLES_H
#define HEXAD_LIB_MODEL_LLAMATABLES_H

#include "Family.h"
#include <array>
#include <utility>

namespace hexad::llama {

/// The elements of two lists as one.
template <typename T, size_t... I, size_t... J>
constexpr std::array<T, sizeof...(I) + sizeof...(J)>
concatenate(const auto &a, const auto &b, std::index_sequence<I...>,
            std::index_sequence<J...>) {
  return {a[I]..., b[J]...};
}
template <typename T, size_t A, size_t B>
constexpr std::array<T, A + B> concatenate(const T (&a)[A], const T (&b)[B]) {
  return concatenate<T>(a, b, std::make_index_sequence<A>(),
                        std::make_index_sequence<B>());
}
template <typename T, size_t A, size_t B>
constexpr std::array<T, A + B> concatenate(const std::array<T, A> &a,
                                           const T (&b)[B]) {
  return concatenate<T>(a, b, std::make_index_sequence<A>(),
                        std::make_index_sequence<B>());
}

inline constexpr NameStem commonStems[] = {
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
/// layers here, and what stands behind attention in other models.
inline constexpr NameStem normsBefore[] = {
    {"attention_norm", "layers.{i}.input_layernorm", true},
    {"feed_forward_norm", "layers.{i}.post_attention_layernorm", true}};
inline constexpr auto stemsBefore = concatenate(commonStems, normsBefore);

inline constexpr llvm::StringLiteral leftovers[] = {
    "layers.*.self_attn.rotary_emb.inv_freq", "lm_head.weight",
    "rotary_emb.inv_freq"};

inline constexpr llvm::StringLiteral commonKeys[] = {"architectures",
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
inline constexpr FixedKey fixedKeys[] = {
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"partial_rotary_factor", "1"},
    {"pruned_heads", "{}"},
    {"rope_interleaved", "false"},
    {"tie_encoder_decoder", "false"},
    {"use_bidirectional_attention", "false"},
    {"use_mrope", "false"}};

inline constexpr llvm::StringLiteral inertKeys[] = {
    "attention_dropout",
    "cache_implementation",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "is_decoder",
    "is_llama_config",
    "pretraining_tp",
    "transformers.js_config"};
} // namespace hexad::llama

#endif // HEXAD_LIB_MODEL_LLAMATABLES_H
