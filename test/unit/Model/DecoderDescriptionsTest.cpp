//===- DecoderDescriptionsTest.cpp - Folders and the YAML of the same -----===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderTest.h"

using namespace mlir;
using namespace hexad;

namespace {

class FoldersAndDescriptions : public DecoderTest {};

TEST_F(FoldersAndDescriptions, Llama) {
  addLlama({});
  expectSame(makeLlama(R"(, "rope_scaling": {"rope_type": "llama3",
      "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
      "original_max_position_embeddings": 16})"),
             "llama", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
    layers:
      - residual:
          - rms_norm: { name: attention_norm, eps: 1e-6 }
          - attention:
              heads: 4
              kv_heads: 2
              head_dim: 4
              causal: true
              rope:
                theta: 10000
                scaling: { kind: llama3, factor: 8, original_positions: 16 }
      - residual:
          - rms_norm: { name: feed_forward_norm, eps: 1e-6 }
          - swiglu: { name: feed_forward, hidden: 6 }
  - rms_norm: { name: final_norm, eps: 1e-6 }
  - linear: { name: head, out: 7 }
  - output: logits
)");
}

TEST_F(FoldersAndDescriptions, Mistral) {
  addLlama({});
  expectSame(makeConfig("MistralForCausalLM", "mistral",
                        R"(, "sliding_window": 5, "rope_theta": 2e4)"),
             "mistral", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
    layers:
      - residual:
          - rms_norm: { name: attention_norm, eps: 1e-6 }
          - attention: { heads: 4, kv_heads: 2, head_dim: 4, causal: true, window: 5, rope: { theta: 20000 } }
      - residual:
          - rms_norm: { name: feed_forward_norm, eps: 1e-6 }
          - swiglu: { name: feed_forward, hidden: 6 }
  - rms_norm: { name: final_norm, eps: 1e-6 }
  - linear: { name: head, out: 7 }
  - output: logits
)");
}

/// Biases of three projections; the first layer has no window.
TEST_F(FoldersAndDescriptions, Qwen2) {
  addLlama({.queryBias = true, .head = false});
  std::string period;
  for (llvm::StringRef window : {"", "window: 5, ", "window: 5, "})
    period += R"(
      - - residual:
            - rms_norm: { name: attention_norm, eps: 1e-6 }
            - attention: { heads: 4, kv_heads: 2, head_dim: 4, bias: true, output_bias: false, causal: true, )" +
              window.str() + R"(rope: { theta: 10000 } }
        - residual:
            - rms_norm: { name: feed_forward_norm, eps: 1e-6 }
            - swiglu: { name: feed_forward, hidden: 6 })";
  expectSame(makeConfig("Qwen2ForCausalLM", "qwen2", R"(,
      "use_sliding_window": true, "sliding_window": 5, "max_window_layers": 1,
      "tie_word_embeddings": true)"),
             "qwen2", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
    period:)" + period + R"(
  - rms_norm: { name: final_norm, eps: 1e-6 }
  - linear: { name: head, out: 7, tied: words }
  - output: logits
)");
}

TEST_F(FoldersAndDescriptions, Qwen3) {
  addLlama({.queryNorm = 4, .keyNorm = 4});
  expectSame(makeConfig("Qwen3ForCausalLM", "qwen3", R"(,
      "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 16})"),
             "qwen3", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
    layers:
      - residual:
          - rms_norm: { name: attention_norm, eps: 1e-6 }
          - attention:
              heads: 4
              kv_heads: 2
              head_dim: 4
              causal: true
              qk_norm: { of: heads, eps: 1e-6 }
              rope:
                theta: 10000
                scaling: { kind: yarn, factor: 4, original_positions: 16 }
      - residual:
          - rms_norm: { name: feed_forward_norm, eps: 1e-6 }
          - swiglu: { name: feed_forward, hidden: 6 }
  - rms_norm: { name: final_norm, eps: 1e-6 }
  - linear: { name: head, out: 7 }
  - output: logits
)");
}

TEST_F(FoldersAndDescriptions, Olmo2) {
  addLlama({.norms = {"post_attention_layernorm", "post_feedforward_layernorm"},
            .queryNorm = 16,
            .keyNorm = 8});
  expectSame(makeConfig("Olmo2ForCausalLM", "olmo2", ""), "olmo2", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
    layers:
      - residual:
          - attention: { heads: 4, kv_heads: 2, head_dim: 4, causal: true, rope: { theta: 10000 }, qk_norm: { of: projection, eps: 1e-5 } }
          - rms_norm: { name: attention_output_norm, eps: 1e-5 }
      - residual:
          - swiglu: { name: feed_forward, hidden: 6 }
          - rms_norm: { name: feed_forward_output_norm, eps: 1e-5 }
  - rms_norm: { name: final_norm, eps: 1e-5 }
  - linear: { name: head, out: 7 }
  - output: logits
)");
}

TEST_F(FoldersAndDescriptions, Gemma3) {
  addGemma();
  std::string period;
  for (llvm::StringRef kind :
       {"window: 5, rope: { theta: 10000 }",
        "rope: { theta: 1e6, scaling: { kind: linear, factor: 8 } }"})
    period += R"(
      - - residual:
            - rms_norm: { name: attention_norm, eps: 1e-6, unit_offset: true }
            - attention: { heads: 4, kv_heads: 2, head_dim: 4, causal: true, scale: 0.25, qk_norm: { of: heads, eps: 1e-6, unit_offset: true }, )" +
              kind.str() + R"( }
            - rms_norm: { name: attention_output_norm, eps: 1e-6, unit_offset: true }
        - residual:
            - rms_norm: { name: feed_forward_norm, eps: 1e-6, unit_offset: true }
            - geglu_tanh: { name: feed_forward, hidden: 6 }
            - rms_norm: { name: feed_forward_output_norm, eps: 1e-6, unit_offset: true })";
  expectSame(makeGemma(R"(, "query_pre_attn_scalar": 16,
      "sliding_window_pattern": 2, "final_logit_softcapping": 30,
      "rope_scaling": {"rope_type": "linear", "factor": 8})"),
             "gemma3_text", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - scale: 2.8284270763397217
  - repeat: 3
    period:)" + period + R"(
  - rms_norm: { name: final_norm, eps: 1e-6, unit_offset: true }
  - linear: { name: head, out: 7, tied: words }
  - softcap: 30
  - output: logits
)");
}

TEST_F(FoldersAndDescriptions, Gpt2) {
  addGpt2();
  expectSame(makeGpt2(), "gpt2", R"(
  - sum:
      - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
      - positions: { name: positions, entries: 64 }
  - repeat: 3
    layers:
      - residual:
          - layer_norm: { name: attention_norm, eps: 1e-5 }
          - attention: { heads: 4, bias: true, causal: true, fused: blocks, transposed: true }
      - residual:
          - layer_norm: { name: feed_forward_norm, eps: 1e-5 }
          - linear: { name: up, out: 32, bias: true, transposed: true }
          - gelu_tanh: {}
          - linear: { name: down, out: 8, bias: true, transposed: true }
  - layer_norm: { name: final_norm, eps: 1e-5 }
  - linear: { name: head, out: 7, tied: words }
  - output: logits
)");
}

TEST_F(FoldersAndDescriptions, GptNeox) {
  addGptNeox();
  expectSame(makeGptNeox(R"(, "rotary_pct": 1.0)"), "gpt_neox", R"(
  - embedding: { name: words, input: input_ids, entries: 7, dim: 8 }
  - repeat: 3
    layers:
      - parallel:
          - - layer_norm: { name: attention_norm, eps: 1e-5 }
            - attention: { heads: 4, bias: true, causal: true, fused: heads, rope: { theta: 10000 } }
          - - layer_norm: { name: feed_forward_norm, eps: 1e-5 }
            - linear: { name: up, out: 6, bias: true }
            - gelu: {}
            - linear: { name: down, out: 8, bias: true }
  - layer_norm: { name: final_norm, eps: 1e-5 }
  - linear: { name: head, out: 7 }
  - output: logits
)");
}

} // namespace
