#!/usr/bin/env python3
"""Writes a GPT-2 checkpoint folder with random weights, of GPT-2 small's shape
unless sizes are given."""

import sys

import checkpoints
from make_bert import norm

TYPE = "f32"
SIZES = {
    "small": {
        "n_layer": 12,
        "n_embd": 768,
        "n_head": 12,
        "n_inner": 3072,
        "vocab_size": 50257,
        "n_positions": 1024,
    },
}


def stored_transposed(name, inputs, outputs):
    yield f"{name}.weight", (inputs, outputs)
    yield f"{name}.bias", (outputs,)


def tensors(sizes):
    hidden, inner = sizes["n_embd"], sizes["n_inner"]
    yield "transformer.wte.weight", (sizes["vocab_size"], hidden)
    yield "transformer.wpe.weight", (sizes["n_positions"], hidden)
    for layer in range(sizes["n_layer"]):
        stem = f"transformer.h.{layer}"
        yield from norm(f"{stem}.ln_1", hidden)
        yield from stored_transposed(f"{stem}.attn.c_attn", hidden, 3 * hidden)
        yield from stored_transposed(f"{stem}.attn.c_proj", hidden, hidden)
        yield from norm(f"{stem}.ln_2", hidden)
        yield from stored_transposed(f"{stem}.mlp.c_fc", hidden, inner)
        yield from stored_transposed(f"{stem}.mlp.c_proj", inner, hidden)
    yield from norm("transformer.ln_f", hidden)


def config(sizes):
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        **sizes,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
    }


if __name__ == "__main__":
    checkpoints.main(sys.modules[__name__])
