"""Writes checkpoint folders with random weights, for make_*.py.

Speed does not depend on the values, so models of any size can be measured
without a download. The same sizes give the same bytes.

A family is a module with SIZES (named sets of sizes, the first of which is taken
unless another is asked for), TYPE (of its weights unless asked for),
tensors(sizes) (names and shapes, in the order of the file) and config(sizes).
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np

# Name in the header of a safetensors file, in config.json, bytes.
TYPES = {
    "f32": ("F32", "float32", 4),
    "bf16": ("BF16", "bfloat16", 2),
    "f16": ("F16", "float16", 2),
}


def _weights(random, name, shape, type):
    values = random.standard_normal(shape, dtype=np.float32) * np.float32(0.02)
    if len(shape) == 1 and name.endswith("weight"):  # a norm's
        values += np.float32(1)
    if type == "f32":
        return values
    if type == "f16":
        return values.astype(np.float16)
    # NumPy has no bf16: the upper half, rounded to even; no value is near the largest one.
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _write_weights(path, tensors, type):
    """One tensor at a time: the model need not fit in memory."""
    stored, _, width = TYPES[type]
    header, offset = {}, 0
    for name, shape in tensors:
        end = offset + width * int(np.prod(shape))
        header[name] = {"dtype": stored, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in tensors:
            file.write(_weights(random, name, shape, type).tobytes())


def make(folder, family, sizes=None, type=None):
    """Makes `family`'s folder unless it is there; `sizes`: a name, or those that differ from
    the first set."""
    folder = Path(folder)
    if (folder / "config.json").exists():
        return folder
    default = next(iter(family.SIZES.values()))
    sizes = family.SIZES[sizes] if isinstance(sizes, str) else {**default, **(sizes or {})}
    type = type or family.TYPE
    folder.mkdir(parents=True, exist_ok=True)
    _write_weights(folder / "model.safetensors", list(family.tensors(sizes)), type)
    config = {**family.config(sizes), "torch_dtype": TYPES[type][1]}
    # Last, since a folder with it is complete.
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return folder


def main(family):
    names = list(family.SIZES)
    parser = argparse.ArgumentParser(
        description=family.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="is made, with config.json and model.safetensors")
    parser.add_argument("--size", choices=names, default=names[0], help=f"default: {names[0]}")
    parser.add_argument("--type", choices=TYPES, default=family.TYPE,
                        help=f"of the stored weights, default: {family.TYPE}")
    for key in family.SIZES[names[0]]:
        parser.add_argument(f"--{key.replace('_', '-')}", dest=key, type=int,
                            help="instead of the size's own")
    arguments = vars(parser.parse_args())
    sizes = {key: size if arguments[key] is None else arguments[key]
             for key, size in family.SIZES[arguments["size"]].items()}
    if (Path(arguments["folder"]) / "config.json").exists():
        parser.error(f"{arguments['folder']} holds a checkpoint already")
    make(arguments["folder"], family, sizes, arguments["type"])
