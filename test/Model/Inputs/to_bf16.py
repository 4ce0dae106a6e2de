"""Cuts the elements of a safetensors file of F32 to BF16: to_bf16.py IN OUT."""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    data = file.read()
header.pop("__metadata__", None)
for tensor in header.values():
    tensor["dtype"] = "BF16"
    tensor["data_offsets"] = [offset // 2 for offset in tensor["data_offsets"]]
half = bytearray(len(data) // 2)
half[0::2], half[1::2] = data[2::4], data[3::4]
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + half)
