"""What the rows of measure.py are to reach, each on one thread unless it says otherwise."""

import re

# Pattern of a row's name; the figure must be at least ("≥") or at most ("≤") so much.
_TARGETS = (
    (r"matmul", "≥", 0.88),
    (r"attention .* full", "≥", 0.74),
    (r"attention 1024 .* causal", "≥", 0.65),
    (r"attention 4096 .* causal", "≥", 0.70),
    (r"one query", "≥", 0.95),
    (r".* block", "≤", 1.05),
    (r"(MiniLM|BERT-base|ViT-B/16)[ ,].*tokens", "≥", 0.93),
    (r"(GPT-2|SmolLM2-135M) prefill", "≥", 0.90),
    (r"(SmolLM2-135M|1B Llama) decode.*bf16", "≥", 0.85),
    (r"(SmolLM2-135M|1B Llama) decode.* f16", "≥", 0.72),
    (r"(SmolLM2-135M|1B Llama) decode", "≥", 0.92),
    (r"cold start", "≤", 1.3),
)
_OPENBLAS_TARGETS = ((r"matmul 512x512x8192", 1.0), (r"matmul", 1.05))
_TWO_THREADS = 1.85


def target(name):
    """("≥", 0.88), or nothing if there is none."""
    return next(((sign, value) for pattern, sign, value in _TARGETS if re.match(pattern, name)),
                None)


def openblas_target(name):
    return next((value for pattern, value in _OPENBLAS_TARGETS if re.match(pattern, name)), None)


def threads_target(name):
    """For two threads, where arithmetic is the limit."""
    return None if "decode" in name else _TWO_THREADS


def is_reached(figure, sign, value):
    return figure >= value if sign == "≥" else figure <= value
