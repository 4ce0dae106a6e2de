"""Going before other programs."""

import contextlib
import os


def undisturbed(wanted):
    """Goes before other programs, or no longer, where that is allowed."""
    policy, priority = (os.SCHED_FIFO, 1) if wanted else (os.SCHED_OTHER, 0)
    for thread in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.sched_setscheduler(thread, policy, os.sched_param(priority))
