"""The machine itself: rates of the loops of ceilings.c, in a second."""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scheduling import undisturbed

GIGABYTE = 1 << 30


def compile_loops():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ceilings.so"
        source = Path(__file__).parent / "ceilings.c"
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-pthread"]
        subprocess.run([os.environ.get("CC", "cc"), *flags, source, "-o", path], check=True)
        loops = ctypes.CDLL(str(path))
    loops.measure_fma.argtypes = [ctypes.c_int, ctypes.c_double]
    loops.measure_read.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_size_t]
    loops.measure_fma.restype = loops.measure_read.restype = ctypes.c_double
    return loops


def serve(options, answer):
    loops = compile_loops()

    def read(streams):
        return loops.measure_read(options.threads, streams, GIGABYTE)

    streams = 0
    if options.bound_by_memory:
        streams = max((2, 4, 6), key=lambda n: statistics.median(read(n) for _ in range(3)))
    answer(streams=streams)
    for _ in sys.stdin:
        undisturbed(True)
        rates = {"fma": loops.measure_fma(options.threads, 0.03)}
        if streams:
            rates["read"] = read(streams)
        undisturbed(False)
        answer(**rates)
