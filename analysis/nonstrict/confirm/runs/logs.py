"""The structured logs that torch writes into the folder `TORCH_TRACE`, one for each process, read without torch.

A line is `V1129 04:58:37.52 PID FILE:LINE] {"NAME": ..., "frame_id": 0, ...}`; the payload of an entry follows it, each
line behind a tab. Names of files are numbers, which entries named `str` explain (torch 2.13, `_logging/structured.py`).
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_ENTRY = re.compile(rb"^(?:\[rank\d+\]:)?[VDIWEC]\d{4} [\d:.]+ +\d+ [^\n]*?:\d+\] (?P<json>\{\"(?P<name>\w+)\")")
#: The entries that tell of compilations; all others, most of a log, are passed over unread.
_WANTED = frozenset({b"str", b"dynamo_start", b"compilation_metrics", b"artifact"})
_ARTIFACTS = frozenset({"dynamo_graph_break_reason", "torch_version"})
_RANK = re.compile(r"_rank_(\d+)")
#: Longer lines and payloads are no text of a compilation.
_LONGEST_LINE = 1 << 24
_LONGEST_PAYLOAD = 1 << 18


class Entry(NamedTuple):
    """An entry that tells of a compilation: its name, that of an artifact, all its fields and its payload."""

    name: str
    fields: dict[str, Any]
    payload: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells one compilation from another in a process: which function, and the how-manieth time."""
        names = ("compiled_autograd_id", "frame_id", "frame_compile_id")
        first, second, third = (str(self.fields.get(name, "")) for name in names)
        return first, second, third


class Log(NamedTuple):
    """The log of a process: of which rank (-1: of none), how many of its lines could not be read, what it says."""

    path: str
    rank: int
    damaged: int
    entries: tuple[Entry, ...]


class NoLogsError(Exception):
    """There are no logs where they were looked for; the text says why, and what to do."""


def read_logs(place: str, since: float = 0.0) -> Iterator[Log]:
    """The logs below a folder, or that of one file; only those that were written to `since` then (s since 1970).

    Raises:
        NoLogsError: there are none.
        OSError: a file cannot be read.
    """
    names = [path for path in _names(place) if not since or os.path.getmtime(path) >= since]
    found = 0
    for path in names:
        log = _read(path)
        if log is not None:
            found += 1
            yield log
    if not found:
        what = "is not a log of TORCH_TRACE" if os.path.isfile(place) else "holds no log of TORCH_TRACE"
        raise NoLogsError(f"{place} {what}. Run the job with TORCH_TRACE=DIR in its environment, then import DIR.")


def _names(place: str) -> list[str]:
    if not os.path.exists(place):
        raise NoLogsError(f"{place} does not exist. Give the folder that TORCH_TRACE named in the run.")
    if os.path.isfile(place):
        return [place]
    found = (os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
    return sorted(path for path in found if path.endswith(".log"))


def _read(path: str) -> Log | None:
    """A log; None if nothing in the file is an entry of one."""
    reader = _Reader()
    with open(path, "rb") as file:
        entries = tuple(reader.entries(file))
    rank = _RANK.search(os.path.basename(path))
    return Log(path, int(rank[1]) if rank else reader.rank, reader.damaged, entries) if reader.known else None


class _Reader:
    """Reads one file: what numbers stand for, and what was met."""

    def __init__(self) -> None:
        self.rank = -1
        self.damaged = 0
        self.known = 0
        self._texts: dict[int, str] = {}
        self._waiting: Entry | None = None
        self._payload: list[bytes] = []
        self._size = 0

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The entries of a file, in order, with their payloads."""
        whole = True
        while line := file.readline(_LONGEST_LINE):
            begins, whole = whole, line.endswith(b"\n")
            if not begins:
                continue  # the rest of a line that is too long
            if line.startswith(b"\t"):
                self._take(line)
                continue
            yield from self._finished()
            self._begin(line)
        yield from self._finished()

    def _take(self, line: bytes) -> None:
        """Add a line of a payload to the entry that waits for it."""
        if self._waiting is not None and self._size < _LONGEST_PAYLOAD:
            self._payload.append(line[1:])
            self._size += len(line)

    def _finished(self) -> Iterator[Entry]:
        if self._waiting is not None:
            yield self._waiting._replace(payload=b"".join(self._payload).decode("utf-8", "replace"))
        self._waiting, self._payload, self._size = None, [], 0

    def _begin(self, line: bytes) -> None:
        found = _ENTRY.match(line)
        if found is None:
            self.damaged += bool(line.strip())
            return
        self.known += 1
        if found["name"] not in _WANTED:
            return
        try:
            fields: Any = json.loads(line[found.start("json") :])
        except (ValueError, RecursionError):
            self.damaged += 1
            return
        self._waiting = self._entry(found["name"].decode(), cast("dict[str, Any]", fields))

    def _entry(self, name: str, fields: dict[str, Any]) -> Entry | None:
        if isinstance(rank := fields.get("rank"), int):
            self.rank = rank
        told = fields[name]
        if name == "str":
            if isinstance(told, list) and len(cast("list[Any]", told)) == 2:
                text, number = cast("list[Any]", told)
                self._texts[number] = str(text)
            return None
        if not isinstance(told, dict):
            self.damaged += 1
            return None
        inner = cast("dict[str, Any]", told)
        if name == "artifact":
            kind = str(inner.get("name"))
            return Entry(kind, fields) if kind in _ARTIFACTS else None
        if name == "dynamo_start":
            for frame in inner.get("stack") or ():
                frame["filename"] = self._texts.get(frame.get("filename"), "")
        return Entry(name, fields)
