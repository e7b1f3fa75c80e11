"""Memory and processor time of a process and of all below it, as Linux tells them (standard library only).

Three figures for memory: `rss` counts shared pages once per process that maps them, `private` counts only pages that
one process alone has (Private_* of smaps_rollup), `pss` divides shared pages among those that have them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_ADOPT = 36  # PR_SET_CHILD_SUBREAPER
#: A sample is taken no sooner than after so many times what the last one took: sampling takes few of the cycles.
_REST = 10
#: How long killed processes are waited for (s).
_PATIENCE = 1.0


class Usage(NamedTuple):
    """Bytes of memory, and seconds of processor time (user and system)."""

    rss: int = 0
    private: int = 0
    pss: int = 0
    cpu: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """The sum of two."""
        rss, private, pss = self.rss + other.rss, self.private + other.private, self.pss + other.pss
        return Usage(rss, private, pss, self.cpu + other.cpu)

    def peaks(self, other: Usage) -> Usage:
        """The larger of each figure."""
        rss, private, pss = max(self.rss, other.rss), max(self.private, other.private), max(self.pss, other.pss)
        return Usage(rss, private, pss, max(self.cpu, other.cpu))


def rollup(text: str) -> tuple[int, int]:
    """The private and the proportional bytes that a `smaps_rollup` tells."""
    private = pss = 0
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name.startswith("Private_"):
            private += int(rest.split()[0]) * 1024
        elif name == "Pss":
            pss = int(rest.split()[0]) * 1024
    return private, pss


def _stat(folder: Path) -> list[str] | None:
    """The fields of `stat` behind the name of the program, which may contain anything."""
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _of_one(folder: Path, fields: list[str]) -> Usage:
    try:
        private, pss = rollup((folder / "smaps_rollup").read_text())
    except OSError:
        private = pss = 0
    return Usage(int(fields[21]) * PAGE, private, pss, sum(map(int, fields[11:15])) / TICKS)


def usage(root: int) -> Usage:
    """What a process and its descendants use now; children that were waited for count as time of their parents."""
    children: dict[int, list[int]] = {}
    known: dict[int, list[str]] = {}
    for folder in _PROC.iterdir():
        fields = _stat(folder) if folder.name.isdigit() else None
        if fields is not None:
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            known[int(folder.name)] = fields
    total, waiting = Usage(), [root]
    while waiting:
        process = waiting.pop()
        if process in known:
            total = total.plus(_of_one(_PROC / str(process), known[process]))
        waiting.extend(children.get(process, ()))
    return total


class Sampler:
    """Takes the usage of a process again and again while a block runs, and keeps the peaks."""

    def __init__(self, root: int, least: float) -> None:
        """Sample `root` and those below it, with at least so many seconds between."""
        self.peaks = Usage()
        self._root, self._least = root, least
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        rest = 0.0
        while not self._done.wait(rest):
            began = time.perf_counter()
            self.peaks = self.peaks.peaks(usage(self._root))
            rest = max(self._least, _REST * (time.perf_counter() - began))


def adopt_orphans() -> None:
    """Make this process the parent of descendants that lose theirs, so that their time can be counted."""
    ctypes.CDLL(None, use_errno=True).prctl(_ADOPT, 1, 0, 0, 0)


def reaped(group: int) -> float:
    """End what is left of a group of processes; the processor seconds of all children that have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    seconds, end = 0.0, time.perf_counter() + _PATIENCE
    while time.perf_counter() < end:
        try:
            process, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if process:
            seconds += used.ru_utime + used.ru_stime
        else:
            time.sleep(0.01)
    return seconds
