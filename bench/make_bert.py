#!/usr/bin/env python3
"""Writes a BERT checkpoint folder with random weights.

Speed does not depend on the values, so models of any size can be measured
without a download. The same sizes give the same bytes.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

VOCABULARY = 30522
POSITIONS = 512

# layers, hidden, intermediate, heads
SIZES = {
    "base": (12, 768, 3072, 12),
    "minilm": (6, 384, 1536, 12),
}


def make_weights(layers, hidden, intermediate, vocabulary):
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

    add("embeddings.word_embeddings.weight", vocabulary, hidden)
    add("embeddings.position_embeddings.weight", POSITIONS, hidden)
    add("embeddings.token_type_embeddings.weight", 2, hidden)
    add_norm("embeddings.LayerNorm")
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}"
        for projection in ("query", "key", "value"):
            add_linear(f"{prefix}.attention.self.{projection}", hidden, hidden)
        add_linear(f"{prefix}.attention.output.dense", hidden, hidden)
        add_norm(f"{prefix}.attention.output.LayerNorm")
        add_linear(f"{prefix}.intermediate.dense", intermediate, hidden)
        add_linear(f"{prefix}.output.dense", hidden, intermediate)
        add_norm(f"{prefix}.output.LayerNorm")
    add_linear("pooler.dense", hidden, hidden)
    return weights


def make_checkpoint(folder, layers, hidden, intermediate, heads, vocabulary=VOCABULARY):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = make_weights(layers, hidden, intermediate, vocabulary)
    save_file(weights, folder / "model.safetensors")
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "hidden_act": "gelu",
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
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
    parser.add_argument("--vocabulary", type=int, default=VOCABULARY)
    arguments = parser.parse_args()
    names = ("layers", "hidden", "intermediate", "heads")
    sizes = [
        default if getattr(arguments, name) is None else getattr(arguments, name)
        for name, default in zip(names, SIZES[arguments.size])
    ]
    make_checkpoint(arguments.folder, *sizes, vocabulary=arguments.vocabulary)


if __name__ == "__main__":
    main()
