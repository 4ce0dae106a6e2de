#!/usr/bin/env bash
# Installs what Hexad is compared with, in environments of its own:
#   install.sh FOLDER [torch] [llama.cpp]
# torch (PyTorch, transformers, ONNX Runtime, OpenVINO): 1.9 GB, and 4 GB more
# where PyTorch comes with CUDA, which PyPI's does for Linux; an index with the
# CPU's own (https://download.pytorch.org/whl/cpu) can be given as TORCH_INDEX.
# llama.cpp: 0.2 GB; it is compiled for this machine, which takes some minutes.
set -euo pipefail
folder=$1
shift
groups=("$@")
((${#groups[@]})) || groups=(torch llama.cpp)

for group in "${groups[@]}"; do
  python3 -m venv "$folder/$group"
  pip=("$folder/$group/bin/pip" install --disable-pip-version-check)
  case $group in
  torch)
    "${pip[@]}" torch ${TORCH_INDEX:+--index-url "$TORCH_INDEX"}
    "${pip[@]}" numpy transformers safetensors onnx onnxscript onnxruntime openvino
    ;;
  llama.cpp)
    CMAKE_ARGS=-DGGML_NATIVE=ON "${pip[@]}" numpy safetensors gguf llama-cpp-python
    ;;
  *)
    echo "install.sh: no group '$group'; there are torch and llama.cpp" >&2
    exit 1
    ;;
  esac
  du -sh "$folder/$group"
done
