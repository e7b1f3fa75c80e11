"""What the kernel is asked so that no process outlives its purpose: death signals, adopted orphans, children listed."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from nonstrict_agent.isolation import accelerators

if TYPE_CHECKING:
    from collections.abc import Container

# <linux/prctl.h>
_SET_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, argument: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


def die_with(parent: int) -> None:
    """Be killed when the parent is (Linux; elsewhere nothing). Leaves at once if `parent` is gone already."""
    if sys.platform == "linux":
        _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents die, so that `end_others` finds them (Linux)."""
    if sys.platform == "linux":
        _prctl(_SET_CHILD_SUBREAPER, 1)


def children() -> list[int]:
    """The processes whose parent is this one, the dead that nobody waited for among them (Linux; elsewhere none)."""
    if sys.platform != "linux":
        return []
    try:
        return [
            int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()
        ]
    except OSError:
        return _children_by_search()


def _children_by_search() -> list[int]:
    """The same, for kernels built without CONFIG_PROC_CHILDREN."""
    own, found = str(os.getpid()), list[int]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name in parentheses may itself hold spaces and parentheses.
                if (entry / "stat").read_text().rpartition(")")[2].split()[1] == own:
                    found.append(int(entry.name))
    return found


def end_others(known: Container[int], patience: float = 2.0) -> None:
    """Kill every child that is not known, and what becomes a child by that, until none is left or patience (s) is."""
    limit = time.monotonic() + patience
    while others := [pid for pid in children() if pid not in known]:
        for pid in others:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in others:
            reap(pid)
        if time.monotonic() > limit:
            return
        time.sleep(0.002)


def reap(pid: int) -> int | None:
    """The wait status of a child if it is dead, else None; one that is no child of ours counts as dead."""
    try:
        done, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return 0
    return status if done else None


def tasks() -> int:
    """How many threads this process has; 1 where the kernel does not tell."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def other_threads() -> list[str]:
    """The names of this process's threads besides the first one; empty where the kernel does not tell."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        for task in sorted(map(int, os.listdir("/proc/self/task"))):
            if task != os.getpid():
                # One that ends meanwhile is none.
                with contextlib.suppress(OSError):
                    names.append(Path(f"/proc/self/task/{task}/comm").read_text().strip())
    return names


def holds_gpu() -> bool:
    """Whether a device file of CUDA is open in this process, which must then not be forked."""
    with contextlib.suppress(OSError):
        for descriptor in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if accelerators.is_of_cuda(os.readlink(f"/proc/self/fd/{descriptor}")):
                    return True
    return False
