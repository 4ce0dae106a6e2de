"""Runs a command until its first line of output and interrupts it (SIGINT) where it
can write no more: the pipe between is as small as possible, and full."""

import fcntl
import os
import signal
import subprocess
import sys

F_SETPIPE_SZ = 1031
read, write = os.pipe()
size = fcntl.fcntl(write, F_SETPIPE_SZ, 4096)
# Leaves room for some lines.
os.write(write, b"\n" * (size - 64))
process = subprocess.Popen(
    sys.argv[1:],
    stdout=write,
    # A shell's background jobs ignore it.
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
)
os.close(write)
try:
    process.wait(timeout=2)
    sys.exit("it ended by itself")
except subprocess.TimeoutExpired:
    process.send_signal(signal.SIGINT)
try:
    if process.wait(timeout=10) != -signal.SIGINT:
        sys.exit(f"expected the signal's exit code, found {process.returncode}")
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("it does not end")
