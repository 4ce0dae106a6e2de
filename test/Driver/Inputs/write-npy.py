"""write-npy.py FILE ROWS: writes a list of lists of integers as an int64 array."""
import json
import struct
import sys

rows = json.loads(sys.argv[2])
header = "{'descr': '<i8', 'fortran_order': False, 'shape': (%d, %d), }\n" % (
    len(rows),
    len(rows[0]),
)
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode())
    for row in rows:
        file.write(struct.pack("<%dq" % len(row), *row))
