"""Processes as `/proc` shows them: who descends from whom, who is left, how much memory they hold."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Process(NamedTuple):
    """A process that cannot be taken for a later one of the same number."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether it still runs; one that only waits to be collected does not."""
        status = _status(self.pid)
        return status is not None and status[0] != "Z" and status[19] == self.started

    @property
    def command(self) -> str:
        """The command line, for messages."""
        try:
            return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""


def _status(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def process(pid: int) -> Process:
    """The process that has this number now."""
    status = _status(pid)
    return Process(pid, status[19] if status else "")


def descendants(pid: int) -> list[Process]:
    """The children of a process, theirs, and so on."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (status := _status(int(entry.name))):
            children.setdefault(int(status[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        young = children.get(waiting.pop(), [])
        waiting += young
        found += young
    return [process(pid) for pid in found]


def all_gone(processes: Iterable[Process], seconds: float = 10) -> bool:
    """Whether all of them end within the time."""
    watched = list(processes)
    return wait_until(lambda: not any(one.alive for one in watched), seconds)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether a condition comes true within the time."""
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return met


def resident(pid: int) -> int:
    """The memory that a process holds, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
