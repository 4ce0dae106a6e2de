#!/usr/bin/env python3
"""Writes a vision transformer's checkpoint folder with random weights.

Speed does not depend on the values, so models of any size can be measured
without a download. The same sizes give the same bytes.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

LABELS = 1000

# layers, hidden, intermediate, heads
SIZES = {
    "tiny": (12, 192, 768, 3),
    "small": (12, 384, 1536, 6),
    "base": (12, 768, 3072, 12),
}


def make_weights(layers, hidden, intermediate, image, patch):
    random = np.random.default_rng(0)
    weights = {}

    def add(name, *shape, mean=0.0):
        values = random.standard_normal(shape, dtype=np.float32)
        weights[name] = values * np.float32(0.02) + np.float32(mean)

    def add_norm(name):
        add(f"{name}.weight", hidden, mean=1.0)
        add(f"{name}.bias", hidden)

    def add_linear(name, outputs, inputs):
        add(f"{name}.weight", outputs, inputs)
        add(f"{name}.bias", outputs)

    add("vit.embeddings.cls_token", 1, 1, hidden)
    add("vit.embeddings.position_embeddings", 1, 1 + (image // patch) ** 2, hidden)
    add("vit.embeddings.patch_embeddings.projection.weight", hidden, 3, patch, patch)
    add("vit.embeddings.patch_embeddings.projection.bias", hidden)
    for layer in range(layers):
        prefix = f"vit.encoder.layer.{layer}"
        add_norm(f"{prefix}.layernorm_before")
        for projection in ("query", "key", "value"):
            add_linear(f"{prefix}.attention.attention.{projection}", hidden, hidden)
        add_linear(f"{prefix}.attention.output.dense", hidden, hidden)
        add_norm(f"{prefix}.layernorm_after")
        add_linear(f"{prefix}.intermediate.dense", intermediate, hidden)
        add_linear(f"{prefix}.output.dense", hidden, intermediate)
    add_norm("vit.layernorm")
    add_linear("classifier", LABELS, hidden)
    return weights


def make_checkpoint(folder, layers, hidden, intermediate, heads, image, patch):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = make_weights(layers, hidden, intermediate, image, patch)
    save_file(weights, folder / "model.safetensors")
    config = {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "image_size": image,
        "patch_size": patch,
        "num_channels": 3,
        "qkv_bias": True,
        "num_labels": LABELS,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--layers", type=int, help="instead of the size's own")
    parser.add_argument("--hidden", type=int)
    parser.add_argument("--intermediate", type=int)
    parser.add_argument("--heads", type=int)
    parser.add_argument("--image", type=int, default=224, help="height and width")
    parser.add_argument("--patch", type=int, default=16)
    arguments = parser.parse_args()
    names = ("layers", "hidden", "intermediate", "heads")
    sizes = [
        default if getattr(arguments, name) is None else getattr(arguments, name)
        for name, default in zip(names, SIZES[arguments.size])
    ]
    make_checkpoint(arguments.folder, *sizes, arguments.image, arguments.patch)


if __name__ == "__main__":
    main()
