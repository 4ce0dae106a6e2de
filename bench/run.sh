#!/usr/bin/env bash
# Measures compiler and compiled models and prints the table that
# docs/Performance.md explains. `bench/run.sh [BUILD] [OPTIONS]`: BUILD is a
# Release build (default build/release); models and libraries stay in
# BUILD/bench. `--help` says what the options are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/../build/release
if [[ $# -gt 0 && $1 != -* ]]; then
  build=$1
  shift
fi
for option in "$@"; do
  # What options there are is said without a build and NumPy.
  if [[ $option == -h || $option == --help ]]; then
    exec python3 "$here/options.py" --help
  fi
done
if [[ ! -f $build/build.ninja ]]; then
  echo "run.sh: '$build' is no build: there is no build.ninja; make one with \`cmake --preset release\`, or name another: bench/run.sh BUILD" >&2
  exit 1
fi

ninja -C "$build" hexad-compile kernel-bench block-bench model-bench generate-bench >&2
venv=$build/bench/venv
if [[ ! -f $venv/complete ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check numpy
  touch "$venv/complete"
fi
if ! ldconfig -p | grep -q 'libopenblas\.so\.0'; then
  echo "run.sh: no OpenBLAS to compare with; on Debian: apt-get install libopenblas0-pthread" >&2
fi
exec "$venv/bin/python3" "$here/measure.py" "$build" "$@"
