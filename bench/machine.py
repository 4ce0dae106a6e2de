"""The machine that measure.py runs on, and how programs are kept undisturbed on it."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path


def describe():
    model = "unknown CPU"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            model = value.strip()
    return f"{model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"


def cpu_count():
    return len(os.sched_getaffinity(0))


def pinning(threads=1):
    """The command that keeps a program on as many CPUs, undisturbed if that is allowed."""
    cpus = sorted(os.sched_getaffinity(0))[-threads:]
    pin = ["taskset", "-c", ",".join(map(str, cpus))]
    undisturbed = ["chrt", "-f", "1"]
    allowed = subprocess.run(undisturbed + ["true"], capture_output=True).returncode == 0
    return undisturbed + pin if allowed else pin


@contextlib.contextmanager
def pinned():
    """Keeps this process and those that it starts on one CPU, as `pinning` does, but without
    programs that are run in between."""
    cpus, policy, priority = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setaffinity(0, {max(cpus)})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, priority)
        os.sched_setaffinity(0, cpus)


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command, threads=1):
    """Standard output of a program that is measured."""
    command = [str(part) for part in command]
    done = subprocess.run(pinning(threads) + command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: failed with status {done.returncode}")
    return done.stdout


def run_json(command, threads=1):
    return json.loads(run([*command, "--json"], threads))


def _anonymous_bytes(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def run_watched(command):
    """Seconds and the peak of anonymous memory, sampled every 2 ms."""
    start = time.monotonic()
    process = subprocess.Popen(pinning() + [str(part) for part in command])
    peak = 0
    while process.poll() is None:
        peak = max(peak, _anonymous_bytes(process.pid))
        time.sleep(0.002)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: failed with status {process.returncode}")
    return time.monotonic() - start, peak
