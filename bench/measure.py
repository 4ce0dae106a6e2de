#!/usr/bin/env python3
"""Makes models, compiles and measures them, prints the figures (see run.sh)."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import make_bert
import make_smollm

MEGABYTE = 1e6


def pinning(threads=1):
    """The command that keeps a program on as many CPUs, undisturbed if that is allowed."""
    cpus = sorted(os.sched_getaffinity(0))[-threads:]
    pin = ["taskset", "-c", ",".join(map(str, cpus))]
    undisturbed = ["chrt", "-f", "1"]
    allowed = subprocess.run(undisturbed + ["true"], capture_output=True).returncode == 0
    return undisturbed + pin if allowed else pin


def anonymous_bytes(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def machine():
    model = None
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            model = value.strip()
    return f"{model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"


def percent(shares):
    return (f"{100 * shares['median']:.1f} % ({100 * shares['quarter']:.1f} … "
            f"{100 * shares['three_quarters']:.1f})")


class Bench:
    def __init__(self, build):
        self.build = build.resolve()
        self.bin = self.build / "bin"
        self.work = self.build / "bench"

    def checkpoint(self, name, *sizes, **more):
        folder = self.work / "checkpoints" / name
        if not (folder / "config.json").exists():
            make_bert.make_checkpoint(folder, *sizes, **more)
        return folder

    def decoder(self, name, *sizes, **more):
        folder = self.work / "checkpoints" / name
        if not (folder / "config.json").exists():
            make_smollm.make_checkpoint(folder, *sizes, **more)
        return folder

    def compile(self, folder, cpu="native"):
        """Compiles; returns the library, seconds of wall and CPU, peak anonymous bytes."""
        out = self.work / "libraries" / f"{folder.name}-{cpu}"
        command = [self.bin / "hexad-compile", folder, "-o", out, "--name", "model",
                   f"--mcpu={cpu}"]
        start = time.monotonic()
        process = subprocess.Popen(pinning() + [str(part) for part in command])
        peak = 0
        while process.poll() is None:
            peak = max(peak, anonymous_bytes(process.pid))
            time.sleep(0.002)
        wall = time.monotonic() - start
        if process.returncode != 0:
            sys.exit(f"compiling {folder} failed")
        return out / "libmodel.so", wall, peak

    def run_json(self, *command, threads=1):
        command = [str(part) for part in command]
        done = subprocess.run(pinning(threads) + command + ["--json"], check=True,
                              stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    # Figures

    def kernels(self, cpu):
        result = self.run_json(self.bin / "kernel-bench", f"--mcpu={cpu}", "--rounds=21")
        print(f"\nKernels for {cpu}, {result['vector_bits']}-bit vectors; FMA loop "
              f"{result['fma_loop_gflops']:.1f} GFLOP/s")
        for kernel in result["kernels"]:
            if "share_of_fma_loop" in kernel:
                print(f"  {kernel['name']:22} {100 * kernel['share_of_fma_loop']:5.1f} % of "
                      "the FMA loop")
            else:
                print(f"  {kernel['name']:22} {kernel['ns_per_element']:5.3f} ns an element")

    def model(self, folder, tokens, cpu="native", rounds=9, threads=1):
        library, _, _ = self.compile(folder, cpu)
        return self.run_json(
            self.bin / "model-bench", library, "--config", folder / "config.json",
            "--tokens", ",".join(map(str, tokens)), "--rounds", rounds,
            "--thread-count", threads, threads=threads)

    def forward(self, folder, tokens, cpu="native", rounds=9, threads=1):
        result = self.model(folder, tokens, cpu, rounds, threads)
        print(f"\n{folder.name} for {cpu}, {threads} thread{'s' * (threads > 1)}; one CPU's FMA loop "
              f"{result['fma_loop_gflops']:.1f} GFLOP/s, packed matmul 512x768x768 "
              f"{percent(result['kernel_share_of_fma_loop'])} of it")
        for call in result["forward"]:
            print(f"  {call['tokens']:4} tokens {call['milliseconds']:8.2f} ms  "
                  f"{percent(call['share_of_kernel'])} of the kernel's rate, "
                  f"{percent(call['share_of_fma_loop'])} of the FMA loop")

    def generate(self, folder, cpu="native", rounds=9, threads=1):
        library, _, _ = self.compile(folder, cpu)
        result = self.run_json(
            self.bin / "generate-bench", library, "--config", folder / "config.json",
            "--rounds", rounds, "--thread-count", threads, threads=threads)
        prefill, decode = result["prefill"], result["decode"]
        print(f"\n{folder.name} for {cpu}, {threads} thread{'s' * (threads > 1)}; one CPU's FMA loop "
              f"{result['fma_loop_gflops']:.1f} GFLOP/s, read loop of all "
              f"{result['read_loop_gigabytes']:.1f} GB/s")
        print(f"  prefill of {prefill['tokens']} tokens {prefill['tokens_per_second']:8.1f} tokens/s  "
              f"{percent(prefill['share_of_fma_loop'])} of the FMA loop, "
              f"{percent(prefill['share_of_kernel'])} of the kernel's rate")
        print(f"  decode behind {decode['context']} {decode['tokens_per_second']:11.1f} tokens/s  "
              f"{percent(decode['share_of_read_loop'])} of the read loop")

    def start(self, folder):
        print("\nStart and memory of BERT-base, files in the page cache")
        for tokens in (128, 512):
            result = self.model(folder, (tokens,), rounds=1)
            call = result["forward"][0]
            print(f"  {tokens:4} tokens: loading {result['load_milliseconds']:.1f} ms, then "
                  f"context and first call {call['first_milliseconds']:.0f} ms, which touch "
                  f"{call['context_bytes'] / MEGABYTE:.1f} MB of memory")

    def compiler(self, base):
        print("\nCompiler, one CPU")
        shallow = self.checkpoint("tiny-12", 12, 64, 256, 4, vocabulary=100)
        deep = self.checkpoint("tiny-48", 48, 64, 256, 4, vocabulary=100)
        for folder in (base, shallow, deep):
            seconds, peaks = [], []
            for _ in range(3):
                library, wall, peak = self.compile(folder)
                seconds.append(wall)
                peaks.append(peak)
            weights = (folder / "model.safetensors").stat().st_size
            copy = self.copy_seconds(folder / "model.safetensors")
            print(f"  {folder.name:8} {min(seconds):5.2f} s (copying its {weights / MEGABYTE:.0f} "
                  f"MB of weights: {copy:.2f} s), {max(peaks) / MEGABYTE:.0f} MB anonymous memory")
        stripped = self.work / "stripped.so"
        subprocess.run(["strip", "-o", stripped, library.parent.parent / "base-native" /
                        "libmodel.so"], check=True)
        print(f"  BERT-base's library, stripped: {stripped.stat().st_size / 1000:.0f} kB")

    def copy_seconds(self, path):
        target = self.work / "copy"
        start = time.monotonic()
        shutil.copyfile(path, target)
        seconds = time.monotonic() - start
        target.unlink()
        return seconds


def main():
    bench = Bench(Path(sys.argv[1]))
    print(f"{machine()}, {time.strftime('%Y-%m-%d %H:%M')}, pinned by: {' '.join(pinning())}")
    base = bench.checkpoint("base", *make_bert.SIZES["base"])
    minilm = bench.checkpoint("minilm", *make_bert.SIZES["minilm"])
    bench.compiler(base)
    for cpu in ("native", "x86-64-v3"):
        bench.kernels(cpu)
        bench.forward(base, (128, 512), cpu)
    bench.forward(minilm, (128, 512), rounds=31)
    if len(os.sched_getaffinity(0)) > 1:
        bench.forward(base, (128, 512), threads=2)
    bench.start(base)
    smollm = bench.decoder("smollm2-135m")
    bench.generate(smollm)
    if len(os.sched_getaffinity(0)) > 1:
        bench.generate(smollm, threads=2)


if __name__ == "__main__":
    main()
