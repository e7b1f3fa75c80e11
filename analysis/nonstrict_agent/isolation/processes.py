"""The processes of a containment, seen from its supervisor through `/proc`: how many, and how much memory they hold."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def everyone() -> list[int]:
    """All processes of this pid namespace but this one."""
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != own]


def descendants() -> list[int]:
    """All descendants of this process, orphans included if it adopts them."""
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        for child in _children(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found


def _children(process: int) -> Iterator[int]:
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return
    for thread in threads:
        text = _text(f"/proc/{process}/task/{thread}/children")
        yield from (int(word) for word in text.split())


def resident(processes: list[int]) -> int:
    """Bytes of memory that the processes hold, pages that they share counted for each."""
    total = 0
    for process in processes:
        words = _text(f"/proc/{process}/statm").split()
        total += int(words[1]) * _PAGE if len(words) > 1 else 0
    return total


def proportional(process: int) -> int:
    """Bytes of memory that a process holds, shared pages divided among those who share them. Costs milliseconds."""
    for line in _text(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return resident([process])


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
