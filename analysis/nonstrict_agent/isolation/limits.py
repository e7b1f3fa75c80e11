"""Limits that the kernel keeps for each process: memory, file sizes, processor time, descriptors, processes."""

from __future__ import annotations

import contextlib
import math
import os
import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nonstrict_agent.isolation.containment import Containment

_DESCRIPTORS = 4096
_THREADS_PER_PROCESS = 4
_GRACE = 2
"""Seconds of processor time beyond the time limit, which is the supervisor's to enforce."""


def limit(containment: Containment, others: int | None) -> None:
    """Sets the limits of this process and all it will start.

    `others`: threads of this user that run already; None: the number of processes is not limited. That number does not
    bind root (`copy_process` in `kernel/fork.c` exempts it), so that the supervisor counts too.
    """
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, containment.file_size)
    _set(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    # Threads of CUDA wait by running.
    _set(resource.RLIMIT_CPU, math.ceil(containment.seconds * (2 if containment.gpu else 1)) + _GRACE)
    if not containment.gpu:
        _set(resource.RLIMIT_DATA, data_size() + containment.memory)
    if others is not None:
        _set(resource.RLIMIT_NPROC, others + containment.processes * _THREADS_PER_PROCESS)
    if hasattr(resource, "RLIMIT_MSGQUEUE"):
        _set(resource.RLIMIT_MSGQUEUE, 0)


def _set(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    # macOS refuses some of them.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, value))


def data_size() -> int:
    """Bytes of private writable memory mapped by this process, as `RLIMIT_DATA` counts it; 0 where nobody says."""
    try:
        with open("/proc/self/statm", encoding="ascii") as table:
            return int(table.read().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def threads_of_user() -> int:
    """How many threads run as this process's user, as `RLIMIT_NPROC` counts them (without a user namespace)."""
    user = os.getuid()
    count = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    if os.stat(entry.path).st_uid == user:
                        count += os.stat(f"{entry.path}/task").st_nlink - 2
    return count
