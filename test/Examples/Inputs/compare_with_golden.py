"""Runs the golden cases of a folder through a compiled library with `hexad run`
and compares every output: usage HEXAD LIBRARY FOLDER."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

hexad, library, folder = sys.argv[1:]
cases = json.loads((Path(folder) / "cases.json").read_text())["cases"]
data = load_file(Path(folder) / "cases.safetensors")

failed = False
for case in cases:
    name = case["name"]
    with tempfile.TemporaryDirectory() as scratch:
        inputs, outputs = (f"{scratch}/{kind}.safetensors" for kind in ("in", "out"))
        save_file({key: data[f"{name}/in/{key}"] for key in case["inputs"]}, inputs)
        command = [hexad, "run", library, "--inputs", inputs, "--outputs", outputs]
        subprocess.run(command, check=True)
        found = load_file(outputs)
    for key, facts in case["outputs"].items():
        # What follows from other outputs is not one.
        if key.startswith("mean_of_"):
            continue
        wanted = data[f"{name}/out/{key}"]
        # What another order of summation costs; a mistake costs far more.
        bound = max(8 * facts["float32_error"], 2e-6 * facts["max_abs"])
        same_shape = found[key].shape == wanted.shape
        error = np.abs(found[key] - wanted).max() if same_shape else np.inf
        within = bool(error <= bound)
        failed |= not within
        print(f"{name} {key}: off by {error:.1e}, bound {bound:.1e},", "ok" if within else "WRONG")
sys.exit(failed)
