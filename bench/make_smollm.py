#!/usr/bin/env python3
"""Writes a Llama checkpoint folder with random weights, of SmolLM2-135M's shape
unless sizes are given.

Speed does not depend on the values, so models of any size can be measured
without a download. The same sizes give the same bytes.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np

SMOLLM2_135M = {
    "num_hidden_layers": 30,
    "hidden_size": 576,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "intermediate_size": 1536,
    "vocab_size": 49152,
}
TYPES = {"bf16": ("BF16", "bfloat16", 2), "f32": ("F32", "float32", 4)}


def tensors(sizes):
    """Names and shapes, in the order of the file."""
    hidden, inner = sizes["hidden_size"], sizes["intermediate_size"]
    head = hidden // sizes["num_attention_heads"]
    shared = head * sizes["num_key_value_heads"]
    yield "model.embed_tokens.weight", (sizes["vocab_size"], hidden)
    for layer in range(sizes["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        yield f"{prefix}.input_layernorm.weight", (hidden,)
        yield f"{prefix}.self_attn.q_proj.weight", (hidden, hidden)
        yield f"{prefix}.self_attn.k_proj.weight", (shared, hidden)
        yield f"{prefix}.self_attn.v_proj.weight", (shared, hidden)
        yield f"{prefix}.self_attn.o_proj.weight", (hidden, hidden)
        yield f"{prefix}.post_attention_layernorm.weight", (hidden,)
        yield f"{prefix}.mlp.gate_proj.weight", (inner, hidden)
        yield f"{prefix}.mlp.up_proj.weight", (inner, hidden)
        yield f"{prefix}.mlp.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)


def make_weights(random, shape, stored):
    values = random.standard_normal(shape, dtype=np.float32) * np.float32(0.04)
    if len(shape) == 1:  # norms
        values += np.float32(1)
    if stored == "F32":
        return values
    # The upper half, rounded to even; no value is near the largest one.
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def write_weights(path, tensors, type):
    """Writes tensors of these names and shapes. One tensor at a time: NumPy has no bf16, and the model need not fit in memory twice."""
    stored, _, width = TYPES[type]
    header, offset = {}, 0
    tensors = list(tensors)
    for name, shape in tensors:
        end = offset + width * int(np.prod(shape))
        header[name] = {"dtype": stored, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape in tensors:
            file.write(make_weights(random, shape, stored).tobytes())


def make_checkpoint(folder, sizes=SMOLLM2_135M, type="bf16", positions=8192):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_weights(folder / "model.safetensors", tensors(sizes), type)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        **sizes,
        "hidden_act": "silu",
        "max_position_embeddings": positions,
        "rms_norm_eps": 1e-5,
        "rope_theta": 100000.0,
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": TYPES[type][1],
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--type", choices=TYPES, default="bf16", help="of the stored weights")
    parser.add_argument("--positions", type=int, default=8192)
    for name, size in SMOLLM2_135M.items():
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, type=int, default=size)
    arguments = vars(parser.parse_args())
    sizes = {name: arguments[name] for name in SMOLLM2_135M}
    make_checkpoint(arguments["folder"], sizes, arguments["type"], arguments["positions"])


if __name__ == "__main__":
    main()
