#!/usr/bin/env python3
"""Writes a BERT checkpoint folder with random weights."""

import sys

import checkpoints

TYPE = "f32"
SIZES = {
    "base": {
        "num_hidden_layers": 12,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "vocab_size": 30522,
        "max_position_embeddings": 512,
    },
    "minilm": {
        "num_hidden_layers": 6,
        "hidden_size": 384,
        "intermediate_size": 1536,
        "num_attention_heads": 12,
        "vocab_size": 30522,
        "max_position_embeddings": 512,
    },
}


def linear(name, outputs, inputs):
    yield f"{name}.weight", (outputs, inputs)
    yield f"{name}.bias", (outputs,)


def norm(name, size):
    yield f"{name}.weight", (size,)
    yield f"{name}.bias", (size,)


def encoder(prefix, sizes, attention, output, norms, up, down):
    """The layers, with a family's names of their parts."""
    hidden, inner = sizes["hidden_size"], sizes["intermediate_size"]
    for layer in range(sizes["num_hidden_layers"]):
        stem = f"{prefix}.{layer}"
        for projection in ("query", "key", "value"):
            yield from linear(f"{stem}.{attention}.{projection}", hidden, hidden)
        yield from linear(f"{stem}.{output}", hidden, hidden)
        yield from linear(f"{stem}.{up}", inner, hidden)
        yield from linear(f"{stem}.{down}", hidden, inner)
        for name in norms:
            yield from norm(f"{stem}.{name}", hidden)


def tensors(sizes):
    hidden = sizes["hidden_size"]
    yield "embeddings.word_embeddings.weight", (sizes["vocab_size"], hidden)
    yield "embeddings.position_embeddings.weight", (sizes["max_position_embeddings"], hidden)
    yield "embeddings.token_type_embeddings.weight", (2, hidden)
    yield from norm("embeddings.LayerNorm", hidden)
    yield from encoder(
        "encoder.layer", sizes, "attention.self", "attention.output.dense",
        ("attention.output.LayerNorm", "output.LayerNorm"), "intermediate.dense", "output.dense")
    yield from linear("pooler.dense", hidden, hidden)


def config(sizes):
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        **sizes,
        "hidden_act": "gelu",
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }


if __name__ == "__main__":
    checkpoints.main(sys.modules[__name__])
