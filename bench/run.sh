#!/usr/bin/env bash
# Measures compiler and compiled models and prints the figures that
# docs/Performance.md explains. `bench/run.sh [BUILD]`: BUILD is a Release build
# (default build/release); models and libraries stay in BUILD/bench.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../build/release}

ninja -C "$build" hexad-compile kernel-bench model-bench generate-bench
venv=$build/bench/venv
if [[ ! -f $venv/complete ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check numpy safetensors
  touch "$venv/complete"
fi
exec "$venv/bin/python3" "$here/measure.py" "$build"
