#!/usr/bin/env python3
"""Writes a Qwen3-MoE checkpoint folder with random weights: 64 experts of which
8 are active, unless sizes are given.

Speed does depend on the experts that rows go to, which random routers spread
evenly."""

import sys

import checkpoints
from make_llama import attention, gated

TYPE = "bf16"
SIZES = {
    "8x64": {
        "num_hidden_layers": 8,
        "hidden_size": 512,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "intermediate_size": 2048,
        "num_experts": 64,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 256,
        "vocab_size": 32000,
        "max_position_embeddings": 8192,
    },
}


def tensors(sizes):
    hidden, head = sizes["hidden_size"], sizes["head_dim"]
    yield "model.embed_tokens.weight", (sizes["vocab_size"], hidden)
    for layer in range(sizes["num_hidden_layers"]):
        stem = f"model.layers.{layer}"
        yield f"{stem}.input_layernorm.weight", (hidden,)
        yield from attention(f"{stem}.self_attn", hidden, head, sizes["num_attention_heads"],
                             sizes["num_key_value_heads"])
        yield f"{stem}.self_attn.q_norm.weight", (head,)
        yield f"{stem}.self_attn.k_norm.weight", (head,)
        yield f"{stem}.post_attention_layernorm.weight", (hidden,)
        yield f"{stem}.mlp.gate.weight", (sizes["num_experts"], hidden)
        for expert in range(sizes["num_experts"]):
            yield from gated(f"{stem}.mlp.experts.{expert}", hidden, sizes["moe_intermediate_size"])
    yield "model.norm.weight", (hidden,)
    yield "lm_head.weight", (sizes["vocab_size"], hidden)


def config(sizes):
    return {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        **sizes,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "rope_scaling": None,
        "attention_bias": False,
        "use_sliding_window": False,
        "tie_word_embeddings": False,
    }


if __name__ == "__main__":
    checkpoints.main(sys.modules[__name__])
