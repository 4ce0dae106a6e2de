"""Writes a checkpoint folder as a GGUF file for llama.cpp, without a vocabulary:
    make_gguf.py FOLDER FILE [F32|F16|BF16]
Matrices get the type; vectors stay f32, as llama.cpp wants them."""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

ARCHITECTURES = {"llama": "llama", "qwen3_moe": "qwen3moe", "gpt2": "gpt2"}

# Name in the file, name in the checkpoint; {i} is the layer, {e} all experts, stacked.
LLAMA = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "blk.{i}.attn_norm": "model.layers.{i}.input_layernorm",
    "blk.{i}.ffn_norm": "model.layers.{i}.post_attention_layernorm",
    "blk.{i}.attn_q": "model.layers.{i}.self_attn.q_proj", "blk.{i}.attn_k": "model.layers.{i}.self_attn.k_proj",
    "blk.{i}.attn_v": "model.layers.{i}.self_attn.v_proj", "blk.{i}.attn_output": "model.layers.{i}.self_attn.o_proj",
    "blk.{i}.attn_q_norm": "model.layers.{i}.self_attn.q_norm",
    "blk.{i}.attn_k_norm": "model.layers.{i}.self_attn.k_norm", "blk.{i}.ffn_gate_inp": "model.layers.{i}.mlp.gate",
}
for part in ("gate", "up", "down"):
    LLAMA[f"blk.{{i}}.ffn_{part}"] = f"model.layers.{{i}}.mlp.{part}_proj"
    LLAMA[f"blk.{{i}}.ffn_{part}_exps"] = f"model.layers.{{i}}.mlp.experts.{{e}}.{part}_proj"
GPT2 = {
    "token_embd": "transformer.wte", "position_embd": "transformer.wpe", "output": "transformer.wte",
    "output_norm": "transformer.ln_f",
    "blk.{i}.attn_norm": "transformer.h.{i}.ln_1", "blk.{i}.ffn_norm": "transformer.h.{i}.ln_2",
    "blk.{i}.attn_qkv": "transformer.h.{i}.attn.c_attn", "blk.{i}.attn_output": "transformer.h.{i}.attn.c_proj",
    "blk.{i}.ffn_up": "transformer.h.{i}.mlp.c_fc", "blk.{i}.ffn_down": "transformer.h.{i}.mlp.c_proj",
}


def interleave(weight, heads):
    """Rows of a head whose halves turn together become neighbours, which llama.cpp turns."""
    halves = weight.reshape(heads, 2, -1, *weight.shape[1:])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def write_settings(writer, config):
    get = lambda *names: next((config[name] for name in names if config.get(name) is not None), None)
    hidden, heads = get("hidden_size", "n_embd"), get("num_attention_heads", "n_head")
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
    writer.add_block_count(get("num_hidden_layers", "n_layer"))
    writer.add_context_length(get("max_position_embeddings", "n_positions"))
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(get("intermediate_size", "n_inner") or 4 * hidden)
    writer.add_head_count(heads)
    if config["model_type"] == "gpt2":
        return writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    head = get("head_dim") or hidden // heads
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(get("rope_theta") or config["rope_parameters"]["rope_theta"])
    writer.add_rope_dimension_count(head)
    writer.add_key_length(head)
    writer.add_value_length(head)
    if config["model_type"] == "qwen3_moe":
        writer.add_expert_count(get("num_experts", "num_local_experts"))
        writer.add_expert_used_count(config["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])


def tensors(config, stored):
    """Name in the file and values, of the tensors that the checkpoint has."""
    table = GPT2 if config["model_type"] == "gpt2" else LLAMA
    layers = config.get("num_hidden_layers", config.get("n_layer"))
    heads = {"attn_q": config.get("num_attention_heads"), "attn_k": config.get("num_key_value_heads")}
    for name, source in table.items():
        for i in range(layers if "{i}" in name else 1):
            for end in ("weight", "bias"):
                key = f"{source.replace('{i}', str(i))}.{end}"
                if "{e}" in key:
                    experts = range(config.get("num_experts") or config.get("num_local_experts") or 0)
                    parts = [stored.get(key.replace("{e}", str(e))) for e in experts]
                    value = np.stack(parts) if parts and parts[0] is not None else None
                else:
                    value = stored.get(key)
                if value is None:
                    continue
                kind = name.rpartition(".")[2]
                if config["model_type"] == "llama" and kind in heads:
                    value = interleave(value, heads[kind])
                if table is GPT2 and name.startswith("blk") and value.ndim == 2:
                    value = value.T
                yield f"{name.replace('{i}', str(i))}.{end}", value


def main():
    folder, path = map(Path, sys.argv[1:3])
    type = gguf.GGMLQuantizationType[sys.argv[3] if len(sys.argv) > 3 else "F32"]
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(str(path), ARCHITECTURES[config["model_type"]])
    write_settings(writer, config)
    for name, value in tensors(config, load_file(folder / "model.safetensors")):
        value = np.ascontiguousarray(value, np.float32)
        if value.ndim == 1 or type == gguf.GGMLQuantizationType.F32:
            writer.add_tensor(name, value)
        else:
            writer.add_tensor(name, gguf.quants.quantize(value, type), raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
