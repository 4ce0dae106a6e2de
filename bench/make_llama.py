#!/usr/bin/env python3
"""Writes a Llama checkpoint folder with random weights, of SmolLM2-135M's shape
unless sizes are given. Weights of `1b` in f32 are 4.4 GB."""

import sys

import checkpoints

TYPE = "bf16"
SIZES = {
    "smollm2-135m": {
        "num_hidden_layers": 30,
        "hidden_size": 576,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "intermediate_size": 1536,
        "vocab_size": 49152,
        "max_position_embeddings": 8192,
    },
    "1b": {
        "num_hidden_layers": 16,
        "hidden_size": 2048,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 8192,
        "vocab_size": 32000,
        "max_position_embeddings": 8192,
    },
}


def attention(stem, hidden, head, heads, shared):
    yield f"{stem}.q_proj.weight", (head * heads, hidden)
    yield f"{stem}.k_proj.weight", (head * shared, hidden)
    yield f"{stem}.v_proj.weight", (head * shared, hidden)
    yield f"{stem}.o_proj.weight", (hidden, head * heads)


def gated(stem, hidden, inner):
    yield f"{stem}.gate_proj.weight", (inner, hidden)
    yield f"{stem}.up_proj.weight", (inner, hidden)
    yield f"{stem}.down_proj.weight", (hidden, inner)


def tensors(sizes):
    hidden, heads = sizes["hidden_size"], sizes["num_attention_heads"]
    yield "model.embed_tokens.weight", (sizes["vocab_size"], hidden)
    for layer in range(sizes["num_hidden_layers"]):
        stem = f"model.layers.{layer}"
        yield f"{stem}.input_layernorm.weight", (hidden,)
        yield from attention(
            f"{stem}.self_attn", hidden, hidden // heads, heads, sizes["num_key_value_heads"])
        yield f"{stem}.post_attention_layernorm.weight", (hidden,)
        yield from gated(f"{stem}.mlp", hidden, sizes["intermediate_size"])
    yield "model.norm.weight", (hidden,)


def config(sizes):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        **sizes,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 100000.0,
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
    }


if __name__ == "__main__":
    checkpoints.main(sys.modules[__name__])
