"""The models in PyTorch, and what a case calls of them. Needs torch and transformers."""

import json
import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.cache_utils import DynamicCache

from cases import MODELS


class AttentionLayer(torch.nn.Module):
    """Embedding of a few columns, attention of many heads, projection back: nearly nothing but
    attention, behind inputs that every peer and Hexad can take."""

    def __init__(self, causal):
        super().__init__()
        size = MODELS["attention"]
        self.heads, self.head, self.causal = size["num_attention_heads"], size["head_dim"], causal
        columns, inner = size["hidden_size"], self.heads * self.head
        self.table = torch.nn.Embedding(size["vocab_size"], columns)
        for name in ("query", "key", "value"):
            setattr(self, name, torch.nn.Linear(columns, inner, bias=False))
        self.output = torch.nn.Linear(inner, columns, bias=False)

    def forward(self, tokens):
        rows = self.table(tokens)
        split = lambda x: x.view(x.shape[0], x.shape[1], self.heads, self.head).transpose(1, 2)
        attended = torch.nn.functional.scaled_dot_product_attention(
            split(self.query(rows)), split(self.key(rows)), split(self.value(rows)), is_causal=self.causal)
        return self.output(attended.transpose(1, 2).flatten(2))


DESCRIPTION = """name: {name}
inputs: {{ input_ids: "i32[batch, seq]" }}
weights: {{ file: model.safetensors }}
layers:
  - embedding: {{ input: input_ids, entries: {vocab_size}, dim: {hidden_size}, tensors: table }}
  - attention:
      heads: {num_attention_heads}
      head_dim: {head_dim}
      causal: {causal}
      tensors: {{ query: query, key: key, value: value, output: output }}
  - output: last_hidden_state
"""


def make_model(name, folder):
    """Writes a checkpoint folder with random weights unless it is there."""
    if (folder / "complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    entries = dict(MODELS[name])
    kind = entries.pop("class")
    if kind is None:
        save_file(AttentionLayer(False).state_dict(), folder / "model.safetensors")
        for causal in (False, True):
            text = DESCRIPTION.format(name="attention", causal=str(causal).lower(), **MODELS[name])
            (folder / f"causal-{causal}.yaml").write_text(text)
    else:
        model = getattr(transformers, kind)
        model = model(model.config_class(**entries)).eval()
        model.save_pretrained(folder)
    (folder / "complete").touch()


def load_model(name, folder, causal):
    kind = MODELS[name]["class"]
    if kind is None:
        model = AttentionLayer(causal)
        model.load_state_dict(load_file(folder / "model.safetensors"))
        return model.eval()
    more = {"add_pooling_layer": False} if kind in ("BertModel", "ViTModel") else {}
    return getattr(transformers, kind).from_pretrained(folder, dtype=torch.float32, **more).eval()


class Rows(torch.nn.Module):
    """States of all tokens."""

    def __init__(self, model, causal):
        super().__init__()
        self.model, self.more = model, {"use_cache": False} if causal else {}

    def forward(self, x):
        return self.model(x, **self.more).last_hidden_state


def cache_tensors(cache):
    return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]


class Prefill(torch.nn.Module):
    """Logits of the last token, then the cache: keys and values of each layer."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        out = self.model(x, past_key_values=DynamicCache(), use_cache=True, logits_to_keep=1)
        return out.logits[:, -1], *cache_tensors(out.past_key_values)


class Decode(torch.nn.Module):
    """Logits of one token behind a cache, then its own keys and values."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, *past):
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        out = self.model(x, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1], *[tensor[:, :, -1:] for tensor in cache_tensors(out.past_key_values)]


def load_case(case, models):
    model = load_model(case.model, Path(models) / case.model, case.causal)
    if case.model == "attention":
        return model
    return Rows(model, case.causal and case.model != "vit") if case.kind == "rows" else \
        {"prefill": Prefill, "decode": Decode}[case.kind](model)


def make_inputs(case, net):
    """Inputs by name, in the order of the call; of decoding also the prompt behind the cache."""
    random = np.random.default_rng(1)
    if case.model == "vit":
        return {"x": random.standard_normal((case.batch, 3, 224, 224), dtype=np.float32)}, None
    vocabulary = MODELS[case.model]["vocab_size"]
    inputs = {"x": random.integers(0, vocabulary, (case.batch, case.tokens))}
    if case.kind != "decode":
        return inputs, None
    prompt = random.integers(0, vocabulary, (1, case.context))
    with torch.inference_mode():
        cache = Prefill(net.model)(torch.from_numpy(prompt))[1:]
    inputs.update({f"past_{i // 2}_{'kv'[i % 2]}": tensor.numpy() for i, tensor in enumerate(cache)})
    return inputs, prompt
