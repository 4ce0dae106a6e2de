"""What is compared: models by their configuration, and cases, calls of a model.

Imported by every worker, so it needs nothing but Python.
"""

import fnmatch
from dataclasses import dataclass

# Configurations as transformers names their entries. `class` is its class; the
# attention layer, which transformers has no class for, is made by prepare.py.
MODELS = {
    "attention": {
        "class": None, "num_attention_heads": 12, "head_dim": 64, "hidden_size": 16, "vocab_size": 4096,
    },
    "gpt2-block": {
        "class": "GPT2Model", "n_embd": 768, "n_head": 12, "n_layer": 1, "n_positions": 1024, "vocab_size": 256,
    },
    "llama-block": {
        "class": "LlamaModel", "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 5632, "num_hidden_layers": 1, "vocab_size": 256, "max_position_embeddings": 2048,
    },
    "minilm": {
        "class": "BertModel", "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
        "intermediate_size": 1536, "vocab_size": 30522,
    },
    "bert": {
        "class": "BertModel", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "vocab_size": 30522,
    },
    "vit": {
        "class": "ViTModel", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "image_size": 224, "patch_size": 16,
    },
    "gpt2": {
        "class": "GPT2LMHeadModel", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
        "vocab_size": 50257,
    },
    "smollm2": {
        "class": "LlamaForCausalLM", "hidden_size": 576, "num_attention_heads": 9, "num_key_value_heads": 3,
        "intermediate_size": 1536, "num_hidden_layers": 30, "vocab_size": 49152, "max_position_embeddings": 2048,
        "tie_word_embeddings": True,
    },
    "moe": {
        "class": "Qwen3MoeForCausalLM", "hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 64, "num_experts": 64, "num_experts_per_tok": 8,
        "moe_intermediate_size": 256, "intermediate_size": 1024, "vocab_size": 32000, "norm_topk_prob": True,
        "mlp_only_layers": [], "decoder_sparse_step": 1, "max_position_embeddings": 2048,
    },
}


@dataclass(frozen=True)
class Case:
    name: str
    model: str
    kind: str  # rows: states of all tokens; prefill: logits of the last token and the cache; decode: one token more
    tokens: int  # of a sequence; of an image, with the class token
    batch: int = 1
    context: int = 0  # tokens in the cache before the call
    causal: bool = True

    @property
    def is_decoder(self):
        """A model of transformers that can have a cache."""
        return self.causal and self.model != "attention"

    @property
    def bound_by_memory(self):
        return self.kind == "decode"

    def size(self, *names, default=None):
        config = MODELS[self.model]
        return next((config[name] for name in names if name in config), default)

    def shape(self):
        """Hidden columns, layers, columns of all heads, of the key heads."""
        hidden = self.size("hidden_size", "n_embd")
        heads = self.size("num_attention_heads", "n_head")
        head = self.size("head_dim", default=hidden // heads)
        return (hidden, self.size("num_hidden_layers", "n_layer", default=1), head * heads,
                head * self.size("num_key_value_heads", default=heads))

    def weights_of_token(self):
        """Weights of matrices that a token is multiplied by, without the output layer."""
        hidden, layers, query, key = self.shape()
        attention = 2 * hidden * (query + key)
        if self.model == "attention":
            return attention
        if self.model == "moe":
            inner = self.size("moe_intermediate_size") * self.size("num_experts_per_tok")
            feed_forward = 3 * hidden * inner + hidden * self.size("num_experts")
        elif self.model in ("smollm2", "llama-block"):
            feed_forward = 3 * hidden * self.size("intermediate_size")
        else:
            feed_forward = 2 * hidden * self.size("intermediate_size", default=4 * hidden)
        return layers * (attention + feed_forward)

    def output_layer(self):
        return self.shape()[0] * self.size("vocab_size") if self.kind != "rows" else 0

    def operations(self):
        """Of matrix products; attention counts the pairs that are seen, the output layer one row."""
        hidden, layers, query, _ = self.shape()
        pairs = self.tokens * (self.tokens + self.context)
        if self.causal:
            pairs = self.tokens * self.context + self.tokens * (self.tokens + 1) // 2
        products = 2 * self.tokens * self.weights_of_token() + 4 * pairs * query * layers
        patches = 2 * self.tokens * 3 * 16 * 16 * hidden if self.model == "vit" else 0
        return self.batch * (products + patches + 2 * self.output_layer())

    def bytes_read(self, weight_bytes=4, cache_bytes=4):
        """What a step of decoding cannot do without reading."""
        _, layers, _, key = self.shape()
        cache = 2 * self.context * key * layers
        return weight_bytes * (self.weights_of_token() + self.output_layer()) + cache_bytes * cache


CASES = [
    Case("bert-128", "bert", "rows", 128, causal=False),
    Case("smollm2-prefill-512", "smollm2", "prefill", 512),
    Case("smollm2-decode-512", "smollm2", "decode", 1, context=512),
    Case("llama-block-128", "llama-block", "rows", 128),
    Case("llama-block-512", "llama-block", "rows", 512),
    Case("gpt2-block-128", "gpt2-block", "rows", 128),
    Case("gpt2-block-512", "gpt2-block", "rows", 512),
    Case("gpt2-block-1024", "gpt2-block", "rows", 1024),
    Case("attention-1024", "attention", "rows", 1024, causal=False),
    Case("attention-4096", "attention", "rows", 4096, causal=False),
    Case("attention-1024-causal", "attention", "rows", 1024),
    Case("attention-4096-causal", "attention", "rows", 4096),
    Case("vit", "vit", "rows", 197, causal=False),
    Case("moe-prefill-256", "moe", "prefill", 256),
    Case("moe-decode-256", "moe", "decode", 1, context=256),
    Case("minilm-128", "minilm", "rows", 128, causal=False),
    Case("bert-384", "bert", "rows", 384, causal=False),
    Case("gpt2-prefill-512", "gpt2", "prefill", 512),
    Case("bert-8x128", "bert", "rows", 128, batch=8, causal=False),
]


def matching(patterns):
    return [case for case in CASES if any(fnmatch.fnmatchcase(case.name, p) for p in patterns.split(","))]
