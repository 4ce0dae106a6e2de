#!/usr/bin/env python3
"""Makes models, compiles and measures them, and prints one table.

Each row is a median with quartiles over rounds in which what is measured and its
yardsticks take turns: the loop of FMAs on registers, the loop that reads memory,
the bare packed matmul, OpenBLAS. Times alone mean little on a shared machine.

  bench/run.sh                                  builds and measures everything
  bench/run.sh --only=kernel,block              two groups
  bench/run.sh BUILD --mcpu=x86-64-v3 --json     another build, AVX2, for programs

Groups:
  kernel     packed matmuls beside OpenBLAS
  attention  attention alone, full and causal; one query on 2048 keys
  block      a GPT-2 block and a Llama block beside the sum of their kernels
  model      encoders: the rate of their linear layers, attention taken away
  decode     language models: prefill, and decode behind 512 tokens
  moe        a mixture of experts
  cold       process start to first output, beside the time of the first call
  compile    time, memory and size of what is compiled
"""

import argparse
from pathlib import Path

import machine

GROUPS = ("kernel", "attention", "block", "model", "decode", "moe", "cold", "compile")
WEIGHTS_TYPES = ("f32", "bf16", "f16")


def read():
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="bench/run.sh", usage="%(prog)s [BUILD] [OPTIONS]", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)

    def one_of(known, what):
        def parse(text):
            names = text.split(",")
            for name in names:
                if name not in known:
                    parser.error(f"unknown {what} '{name}', expected {', '.join(known)}")
            return names
        return parse

    parser.add_argument("build", type=Path, metavar="BUILD",
                        help="a Release build (default: build/release); models and libraries stay "
                             "in BUILD/bench")
    parser.add_argument("--only", type=one_of(GROUPS, "group"), default=list(GROUPS),
                        metavar="GROUP,…", help="measure these groups alone")
    parser.add_argument("--rounds", type=int, default=9, help="of each program, default: 9")
    parser.add_argument("--mcpu", default="native", help="to compile for, as hexad compile --mcpu")
    parser.add_argument("--threads", type=int, default=min(2, machine.cpu_count()),
                        help="measured beside one thread, default: 2")
    parser.add_argument("--weights-types", type=one_of(WEIGHTS_TYPES, "type"), default=["f32"],
                        metavar="TYPE,…", help="of language models in memory, default: f32")
    parser.add_argument("--large", action="store_true",
                        help="decode of a Llama of 1 billion weights too: 2 GB, and 4 compiled")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.rounds < 1 or not 1 <= options.threads <= machine.cpu_count():
        parser.error(f"--rounds must be positive, --threads 1 to {machine.cpu_count()}")
    if not (options.build / "bin" / "hexad-compile").exists():
        parser.error(f"'{options.build}' is no build: there is no bin/hexad-compile")
    return options


if __name__ == "__main__":
    read()
