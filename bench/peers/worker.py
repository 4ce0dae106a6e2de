"""One candidate in a process of its own: loads a case, says how far its output is from PyTorch's,
then waits on its input for bursts to run. Started by compare.py with the candidate's Python.

    worker.py '{"candidate": …, "case": …, "threads": …, "work": …, "cpus": …, …}'
"""

import importlib
import json
import os
import sys
import time
from types import SimpleNamespace

from scheduling import undisturbed

options = SimpleNamespace(**json.loads(sys.argv[1]))
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(options.threads)
os.sched_setaffinity(0, options.cpus)
# The answers' own way out: libraries print what they like.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(**values):
    print(json.dumps(values), file=answers, flush=True)


def burst(call, seconds, count):
    """Milliseconds of calls, as many as fit, but at least `count`."""
    samples = []
    undisturbed(True)
    begin = time.perf_counter()
    while len(samples) < count or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        call()
        samples.append(1e3 * (time.perf_counter() - start))
        if samples[-1] > 100:
            time.sleep(0.06)  # a real-time process that never rests loses 50 ms of a second
    undisturbed(False)
    return samples


def serve(load):
    import numpy as np

    from cases import matching

    case = matching(options.case)[0]
    data = np.load(f"{options.work}/io.npz")
    inputs = {name: data[name] for name in data.files if name not in ("expected", "prompt")}
    start = time.perf_counter()
    call = load(case, inputs, data["prompt"] if "prompt" in data.files else None, options)
    output = np.array(call(), copy=True)
    first = time.perf_counter() - start
    if options.only_first:
        return answer(first_seconds=first)
    expected = data["expected"]
    difference = float(np.abs(output.reshape(expected.shape) - expected).max())
    answer(difference=difference, scale=float(np.abs(expected).max()), first_seconds=first)
    for line in sys.stdin:
        order = json.loads(line)
        answer(milliseconds=burst(call, order["seconds"], order["count"]))


def main():
    module = importlib.import_module(f"run_{options.runner}")
    if options.runner == "machine":
        return module.serve(options, answer)
    try:
        serve(module.load)
    except Exception as error:
        answer(error=f"{type(error).__name__}: {error}"[:600])


main()
# Without destructors: some libraries crash or wait in theirs.
os._exit(0)
