"""Makes and lists safetensors files, for tests.

safetensors.py make FILE NAME=TYPE:SHAPE:VALUES ...   e.g. ids=I64:1x3:5,6,7
safetensors.py list FILE
"""

import json
import struct
import sys

FORMATS = {"I32": "i", "I64": "q", "F32": "f"}


def make(path, arguments):
    header, data = {}, b""
    for argument in arguments:
        name, description = argument.split("=", 1)
        dtype, shape, values = description.split(":")
        number = float if dtype == "F32" else int
        numbers = [number(value) for value in values.split(",") if value]
        packed = struct.pack(f"<{len(numbers)}{FORMATS[dtype]}", *numbers)
        header[name] = {
            "dtype": dtype,
            "shape": [int(size) for size in shape.split("x")],
            "data_offsets": [len(data), len(data) + len(packed)],
        }
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def show(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    for name, tensor in sorted(header.items()):
        if name == "__metadata__":
            continue
        begin, end = tensor["data_offsets"]
        code = FORMATS[tensor["dtype"]]
        values = struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", data[begin:end])
        shape = "x".join(str(size) for size in tensor["shape"])
        print(name, tensor["dtype"], shape, " ".join(f"{value:.6g}" for value in values[:3]))


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3:])
else:
    show(sys.argv[2])
