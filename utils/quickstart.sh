#!/usr/bin/env bash
# Installs what Hexad needs, builds it, compiles a real model (the sentence encoder
# MiniLM) to a native library and runs it on a few sentences.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source utils/setup.sh

install_packages
build release hexad hexad-compile hexad-run
fetch_model

model=build/release/models/minilm
output=build/release/quickstart
step "compiling: MiniLM (BERT, 6 layers, 384 wide) from $model to $output"
cp examples/minilm/minilm.yaml "$model/"
build/release/bin/hexad compile "$model/minilm.yaml" -o "$output"

step "running: cosine similarities of sentences, through $output/libminilm.so"
build/release/venv/bin/python3 examples/minilm/similarity.py "$output/libminilm.so" \
  --hexad build/release/bin/hexad --tokenizer "$model/tokenizer.json"
cat <<END

Your own sentences:
  build/release/venv/bin/python3 examples/minilm/similarity.py $output/libminilm.so \\
    --hexad build/release/bin/hexad --tokenizer $model/tokenizer.json 'One.' 'Another.'
From C: $output/minilm.h, and examples/bert-c.
END
