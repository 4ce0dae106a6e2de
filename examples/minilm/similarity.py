#!/usr/bin/env python3
"""Prints how similar sentences are, by the embeddings of a sentence encoder that
Hexad compiled. Splits them into tokens, runs the library with `hexad run`, and
takes the cosine of the angle between each two embeddings: 1 means the same."""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer


def tokenize(tokenizer_file, sentences):
    """The model's inputs: one row for each sentence, padded to the longest."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(max_length=256)
    encodings = tokenizer.encode_batch(sentences)
    return {
        "input_ids": np.array([e.ids for e in encodings]),
        "attention_mask": np.array([e.attention_mask for e in encodings]),
    }


def embed(hexad, library, inputs):
    """One row for each sentence, of length 1."""
    with tempfile.TemporaryDirectory() as folder:
        input_file = Path(folder) / "inputs.safetensors"
        output_file = Path(folder) / "outputs.safetensors"
        save_file(inputs, input_file)
        command = [hexad, "run", library, "--inputs", input_file, "--outputs", output_file]
        subprocess.run(command, check=True)
        return load_file(output_file)["embedding"]


def print_table(sentences, similarity):
    width = max(map(len, sentences))
    columns = "".join(f"{column:7}" for column in range(1, len(sentences) + 1))
    print(" " * (width + 4) + columns + "   most like")
    for row, sentence in enumerate(sentences):
        others = np.delete(np.arange(len(sentences)), row)
        nearest = others[np.argmax(similarity[row, others])] + 1 if len(others) else "-"
        values = "".join(f"{value:7.2f}" for value in similarity[row])
        print(f"{row + 1:2}  {sentence:{width}}{values}{nearest:>12}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="the compiled model, e.g. libminilm.so")
    parser.add_argument("--tokenizer", required=True, help="its tokenizer.json")
    parser.add_argument("--hexad", default="hexad", help="the program `hexad`")
    default = Path(__file__).with_name("sentences.txt")
    parser.add_argument("sentences", nargs="*", help=f"default: those of {default.name}")
    args = parser.parse_args()
    sentences = args.sentences or default.read_text().splitlines()

    inputs = tokenize(args.tokenizer, sentences)
    start = time.monotonic()
    embedding = embed(args.hexad, args.library, inputs)
    seconds = time.monotonic() - start
    print_table(sentences, embedding @ embedding.T)
    print(
        f"\n{len(sentences)} sentences, {inputs['attention_mask'].sum()} tokens, embeddings"
        f" of size {embedding.shape[1]}; {seconds:.2f} s with starting and loading"
    )


if __name__ == "__main__":
    main()
