#!/usr/bin/env python3
"""Writes a vision transformer's checkpoint folder with random weights."""

import sys

import checkpoints
from make_bert import encoder, linear, norm

TYPE = "f32"
LABELS = 1000
SIZES = {
    name: {
        "num_hidden_layers": 12,
        "hidden_size": hidden,
        "intermediate_size": 4 * hidden,
        "num_attention_heads": heads,
        "image_size": 224,
        "patch_size": 16,
    }
    for name, hidden, heads in (("base", 768, 12), ("small", 384, 6), ("tiny", 192, 3))
}


def tensors(sizes):
    hidden, patch = sizes["hidden_size"], sizes["patch_size"]
    patches = (sizes["image_size"] // patch) ** 2
    yield "vit.embeddings.cls_token", (1, 1, hidden)
    yield "vit.embeddings.position_embeddings", (1, 1 + patches, hidden)
    yield "vit.embeddings.patch_embeddings.projection.weight", (hidden, 3, patch, patch)
    yield "vit.embeddings.patch_embeddings.projection.bias", (hidden,)
    yield from encoder(
        "vit.encoder.layer", sizes, "attention.attention", "attention.output.dense",
        ("layernorm_before", "layernorm_after"), "intermediate.dense", "output.dense")
    yield from norm("vit.layernorm", hidden)
    yield from linear("classifier", LABELS, hidden)


def config(sizes):
    return {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        **sizes,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "num_channels": 3,
        "qkv_bias": True,
        "num_labels": LABELS,
    }


if __name__ == "__main__":
    checkpoints.main(sys.modules[__name__])
