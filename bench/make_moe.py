#!/usr/bin/env python3
"""Writes a Qwen3-MoE checkpoint folder with random weights: 64 experts of which
8 are active, unless sizes are given.

Speed does not depend on the values but for the experts that rows go to, which
random routers spread evenly. The same sizes give the same bytes.
"""

import argparse
import json
from pathlib import Path

from make_smollm import TYPES, write_weights

SIZES = {
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
}


def tensors(sizes):
    """Names and shapes, in the order of the file."""
    hidden, inner = sizes["hidden_size"], sizes["moe_intermediate_size"]
    head = sizes["head_dim"]
    query = head * sizes["num_attention_heads"]
    shared = head * sizes["num_key_value_heads"]
    yield "model.embed_tokens.weight", (sizes["vocab_size"], hidden)
    for layer in range(sizes["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        yield f"{prefix}.input_layernorm.weight", (hidden,)
        yield f"{prefix}.self_attn.q_proj.weight", (query, hidden)
        yield f"{prefix}.self_attn.k_proj.weight", (shared, hidden)
        yield f"{prefix}.self_attn.v_proj.weight", (shared, hidden)
        yield f"{prefix}.self_attn.o_proj.weight", (hidden, query)
        yield f"{prefix}.self_attn.q_norm.weight", (head,)
        yield f"{prefix}.self_attn.k_norm.weight", (head,)
        yield f"{prefix}.post_attention_layernorm.weight", (hidden,)
        yield f"{prefix}.mlp.gate.weight", (sizes["num_experts"], hidden)
        for expert in range(sizes["num_experts"]):
            stem = f"{prefix}.mlp.experts.{expert}"
            yield f"{stem}.gate_proj.weight", (inner, hidden)
            yield f"{stem}.up_proj.weight", (inner, hidden)
            yield f"{stem}.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)
    yield "lm_head.weight", (sizes["vocab_size"], hidden)


def make_checkpoint(folder, sizes=SIZES, type="bf16", positions=8192):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_weights(folder / "model.safetensors", tensors(sizes), type)
    config = {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        **sizes,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "hidden_act": "silu",
        "max_position_embeddings": positions,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "rope_scaling": None,
        "attention_bias": False,
        "use_sliding_window": False,
        "tie_word_embeddings": False,
        "torch_dtype": TYPES[type][1],
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--type", choices=TYPES, default="bf16", help="of the stored weights")
    parser.add_argument("--positions", type=int, default=8192)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, type=int, default=size)
    arguments = vars(parser.parse_args())
    sizes = {name: arguments[name] for name in SIZES}
    make_checkpoint(arguments["folder"], sizes, arguments["type"], arguments["positions"])


if __name__ == "__main__":
    main()
