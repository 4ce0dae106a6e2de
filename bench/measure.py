#!/usr/bin/env python3
"""What bench/run.sh calls: makes models, compiles and measures them, and prints one table, see
options.py."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import checkpoints
import machine
import make_bert
import make_gpt2
import make_llama
import make_moe
import make_vit
import options
from table import Printer, Row

HERE = Path(__file__).resolve().parent


def once(value):
    return {"median": value, "quarter": value, "three_quarters": value}


def middle(values):
    values = sorted(values)
    at = [round(share * (len(values) - 1)) for share in (0.25, 0.5, 0.75)]
    return dict(zip(("quarter", "median", "three_quarters"), (values[i] for i in at)))


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.bin = self.build / "bin"
        self.work = self.build / "bench"
        self.printer = Printer(options.json)
        self.facts = {}

    def folder(self, name, family, sizes=None):
        machine.say(f"  checkpoint {name}")
        return checkpoints.make(self.work / "checkpoints" / name, family, sizes)

    def compile_command(self, folder, out, *more):
        return [self.bin / "hexad-compile", folder, "-o", out, "--name", "model",
                f"--mcpu={self.options.mcpu}", "--weights-type=f32", *more]

    def library(self, folder, *more):
        """The library; compiled once in a run."""
        out = self.work / "libraries" / "-".join([folder.name, self.options.mcpu, *more])
        machine.say(f"  compiling {folder.name} {' '.join(more)}")
        machine.run(self.compile_command(folder, out, *more))
        return out / "libmodel.so"

    def measure(self, program, *arguments):
        """Runs a program of this folder; its rows. What holds for all is kept."""
        threads = self.options.threads
        machine.say(f"  {program} {' '.join(map(str, arguments))}")
        result = machine.run_json(
            [self.bin / program, *arguments, f"--rounds={self.options.rounds}",
             *([f"--thread-count={threads}"] if threads > 1 else [])], threads)
        rows = result.pop("rows")
        self.facts.setdefault(program, []).append(result)
        return rows

    def add(self, group, row, figure, of, name=None, unit="%"):
        """A row of a program, of which `figure` is what counts."""
        more = {key: value["median"] for key, value in row.items() if key != "name"}
        self.printer.add(Row(
            group, name or row["name"], row[figure], of, unit=unit, more=more,
            milliseconds=row["milliseconds"]["median"], openblas=row.get("times_openblas"),
            two_threads=row.get("times_one_thread")))

    # Groups

    def kernel(self):
        for row in self.measure("kernel-bench", "--only=matmul", f"--mcpu={self.options.mcpu}"):
            self.add("kernel", row, "share_of_fma_loop", "FMA loop")

    def attention(self):
        for row in self.measure("kernel-bench", "--only=attention,query",
                                f"--mcpu={self.options.mcpu}"):
            figure = "share_of_read_loop" if "query" in row["name"] else "share_of_fma_loop"
            self.add("attention", row, figure, figure[len("share_of_"):].replace("_", " ")
                     .replace("fma", "FMA"))

    def block(self):
        for row in self.measure("block-bench", f"--mcpu={self.options.mcpu}"):
            self.add("block", row, "times_kernels", "its bare kernels", unit="×")

    def model(self):
        for name, folder, tokens in (
                ("MiniLM", self.folder("minilm", make_bert, "minilm"), "128"),
                ("BERT-base", self.folder("base", make_bert, "base"), "128,384,8x128"),
                ("ViT-B/16", self.folder("vit-base", make_vit, "base"), "0")):
            for row in self.measure("model-bench", self.library(folder), "--config",
                                    folder / "config.json", f"--tokens={tokens}"):
                self.add("model", row, "linear_share_of_kernel", "kernel, attention apart",
                         f"{name} {row['name']}")

    def generate(self, group, name, folder, type="f32", prompt=512):
        more = [] if type == "f32" else [f"--weights-type={type}"]
        suffix = "" if type == "f32" else f", {type}"
        for row in self.measure(
                "generate-bench", self.library(folder, *more), "--config",
                folder / "config.json", f"--prompt={prompt}"):
            if "prefill" in row["name"]:
                figure, of = "linear_share_of_kernel", "kernel, attention apart"
            else:
                figure, of = "share_of_read_loop", "read loop"
            self.add(group, row, figure, of, f"{name} {row['name']}{suffix}")

    def decode(self):
        self.generate("decode", "GPT-2", self.folder("gpt2", make_gpt2))
        models = [("SmolLM2-135M", self.folder("smollm2-135m", make_llama))]
        if self.options.large:
            models.append(("1B Llama", self.folder("llama-1b", make_llama, "1b")))
        for name, folder in models:
            for type in self.options.weights_types:
                self.generate("decode", name, folder, type)

    def moe(self):
        self.generate("moe", "MoE 8 of 64", self.folder("moe", make_moe), prompt=256)

    def cold(self):
        for name, source, folder in (
                ("BERT-base 128", "encode", self.folder("base", make_bert, "base")),
                ("SmolLM2-135M decode", "decode", self.folder("smollm2-135m", make_llama))):
            out = self.library(folder).parent
            program = out / source
            subprocess.run(["cc", "-O2", f"-I{out}", HERE / "cold" / f"{source}.c", "-o", program,
                            out / "libmodel.so", f"-Wl,-rpath,{out}"], check=True)
            ratios, seconds = [], []
            with machine.pinned():
                for round in range(self.options.rounds + 1):
                    start = time.monotonic()
                    printed = subprocess.run([program], check=True, capture_output=True).stdout
                    end, call, _ = map(float, printed.split())
                    if round > 0:  # the first one fills the page cache
                        seconds.append(end - start)
                        ratios.append((end - start) / call)
            self.printer.add(Row("cold", f"cold start, {name}", middle(ratios), "the first call",
                                 milliseconds=1000 * middle(seconds)["median"], unit="×"))

    def compile(self):
        tiny = {"hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 4,
                "vocab_size": 100}
        seconds_of = {}
        for name, folder in (
                ("BERT-base", self.folder("base", make_bert, "base")),
                ("SmolLM2-135M", self.folder("smollm2-135m", make_llama)),
                ("12 small layers",
                 self.folder("tiny-12", make_bert, {**tiny, "num_hidden_layers": 12})),
                ("48 small layers",
                 self.folder("tiny-48", make_bert, {**tiny, "num_hidden_layers": 48}))):
            machine.say(f"  compiling {folder.name}, three times")
            out = self.work / "libraries" / f"{folder.name}-{self.options.mcpu}"
            runs = [machine.run_watched(self.compile_command(folder, out)) for _ in range(3)]
            seconds = middle([run[0] for run in runs])
            seconds_of[folder.name] = seconds["median"]
            memory = max(run[1] for run in runs) / 1e6
            stripped = self.work / "stripped.so"
            subprocess.run(["strip", "-o", stripped, out / "libmodel.so"], check=True)
            size = stripped.stat().st_size / 1000
            copy = self.copy_seconds(folder / "model.safetensors")
            for what, figure, of, unit, target in (
                    ("compile", seconds, f"copying its weights: {copy:.2f} s", "s", 5.0),
                    ("compile, memory", once(memory), "anonymous", "MB", 300.0),
                    ("library", once(size), "without weights", "kB", 300.0)):
                self.printer.add(Row("compile", f"{what}, {name}", figure, of, unit=unit,
                                     target=("≤", target)))
        self.printer.add(Row("compile", "compile, 48 layers by 12", once(
            seconds_of["tiny-48"] / seconds_of["tiny-12"]), "", unit="×", target=("≤", 1.1)))

    def copy_seconds(self, path):
        target = self.work / "copy"
        start = time.monotonic()
        shutil.copyfile(path, target)
        seconds = time.monotonic() - start
        target.unlink()
        return seconds


def main():
    chosen = options.read()
    head = {"machine": machine.describe(), "date": time.strftime("%Y-%m-%d %H:%M"),
            "cpu": chosen.mcpu, "rounds": chosen.rounds, "threads": chosen.threads,
            "pinned_by": " ".join(machine.pinning())}
    if not chosen.json:
        print("; ".join(f"{key}: {value}" for key, value in head.items()))
    bench = Bench(chosen)
    for group in options.GROUPS:
        if group in chosen.only:
            machine.say(f"{group}:")
            getattr(bench, group)()
    if chosen.json:
        json.dump({**head, "rows": bench.printer.as_objects(), "runs": bench.facts}, sys.stdout,
                  indent=2, ensure_ascii=False)
        print()
    else:
        for result in bench.facts.get("kernel-bench", []):
            if "openblas" in result:
                print(f"OpenBLAS: {result['openblas']}")
    bench.printer.summary()


if __name__ == "__main__":
    main()
