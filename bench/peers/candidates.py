"""Who is compared, and the processes that they run in."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
PEERS = ["onnxruntime", "openvino", "torch", "llama.cpp"]


@dataclass
class Candidate:
    name: str  # in tables: hexad, hexad-bf16, onnxruntime, …
    runner: str  # of run_RUNNER.py
    weights: str = "f32"
    environment: str = "torch"  # of the folder of environments
    options: dict = field(default_factory=dict)  # what its runner wants to know

    @property
    def is_peer(self):
        return self.runner != "hexad"

    def bytes_read(self, case):
        width = {"f32": 4, "bf16": 2, "f16": 2}[self.weights]
        return case.bytes_read(width, 2 if self.runner == "llamacpp" else 4)


class Unavailable(Exception):
    """Why there is no candidate for a case."""


def run_quietly(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise Unavailable((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1][:300])


class Maker:
    """Makes candidates, and before them what they read: libraries, GGUF and exported files."""

    def __init__(self, hexad, models, environments):
        self.hexad, self.models, self.environments = hexad, models, environments

    def python(self, environment):
        return self.environments / environment / "bin" / "python"

    def prepare(self, case, names):
        formats = {self.format(name, case) for name in names} - {None}
        command = [self.python("torch"), HERE / "prepare.py", self.models, "--cases", case.name]
        subprocess.run([str(part) for part in command + ["--formats", ",".join(formats)]], check=True, stdout=sys.stderr)

    def compile(self, case, weights):
        folder = self.models / case.model
        source = folder / f"causal-{case.causal}.yaml" if case.model == "attention" else folder
        out = self.models / "libraries" / f"{source.stem}-{weights}"
        stamp = out / "compiler"
        compiler = str(max(program.stat().st_mtime_ns for program in self.hexad.parent.glob("hexad*")))
        if not stamp.exists() or stamp.read_text() != compiler:
            run_quietly([self.hexad, "compile", source, "-o", out, "--name", "model", f"--weights-type={weights}"])
            stamp.write_text(compiler)
        return str(out / "libmodel.so")

    def make_gguf(self, case, weights):
        path = self.models / "gguf" / f"{case.model}-{weights}.gguf"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            run_quietly([self.python("llama.cpp"), HERE / "make_gguf.py", self.models / case.model, path, weights.upper()])
        return str(path)

    def exported(self, case, format):
        work = self.models / "cases" / case.name
        if (work / f"{format}.failed").exists():
            raise Unavailable(f"no export: {(work / f'{format}.failed').read_text()[:200]}")
        return str(work / f"model.{format}")

    def format(self, name, case):
        """What a peer reads. OpenVINO's own conversion fails at the empty caches of decoders."""
        return {"onnxruntime": "onnx", "openvino": "onnx" if case.is_decoder else "xml"}.get(name)

    def make(self, name, case):
        """The candidate of a name such as hexad-bf16, with all that it reads."""
        kind, _, weights = name.partition("-")
        weights = weights or "f32"
        if kind == "hexad":
            return Candidate(name, "hexad", weights, options={"library": self.compile(case, weights)})
        if kind == "llama.cpp":
            if case.kind == "rows":
                raise Unavailable("not a language model of its")
            return Candidate(name, "llamacpp", weights, "llama.cpp", {"gguf": self.make_gguf(case, weights)})
        if weights != "f32":
            raise Unavailable("measured with f32 weights alone")
        if kind not in PEERS:
            raise SystemExit(f"no peer '{kind}'; there are {', '.join(PEERS)}")
        format = self.format(kind, case)
        return Candidate(name, kind, options={"file": self.exported(case, format)} if format else {})

    def files(self, candidate, case):
        """What a candidate needs on the machine that runs it, beside packages."""
        if candidate.runner == "hexad":
            library = Path(candidate.options["library"])
            return [library, library.with_name("model.weights")]
        if candidate.runner == "llamacpp":
            return [Path(candidate.options["gguf"])]
        if candidate.runner == "torch":
            return [self.models / case.model / "model.safetensors"]
        file = Path(candidate.options["file"])
        return [file, file.with_suffix(".bin") if file.suffix == ".xml" else file.with_name("model.onnx.data")]


class Worker:
    """A process of worker.py, whose first answer comes when its case is loaded; it waits while
    others are measured."""

    def __init__(self, maker, candidate, case, threads, only_first=False):
        cpus = sorted(os.sched_getaffinity(0))[-threads:]
        options = {
            "runner": candidate.runner, "case": case.name, "threads": threads, "cpus": cpus, "models": str(maker.models),
            "work": str(maker.models / "cases" / case.name), "bound_by_memory": case.bound_by_memory,
            "only_first": only_first, **candidate.options,
        }
        self.complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(maker.python(candidate.environment)), str(HERE / "worker.py"), json.dumps(options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.complaints, text=True)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.complaints.seek(0)
            raise Unavailable((self.complaints.read().strip() or "ended").splitlines()[-1][:300])
        values = json.loads(line)
        if "error" in values:
            raise Unavailable(values["error"])
        return values

    def ask(self, **order):
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return self.answer()

    def end(self):
        self.process.kill()
        self.process.communicate()
