"""What files hold, as digests: a file is read again only where the system tells that it may hold something else.

The time of its last change alone does not tell: `touch`, `cp -p` and archives set it as they like. The time at which
its status changed cannot be set. Of a file that changed just before it was read, nothing is remembered: the clock may
not have ticked in between.
"""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from typing import TYPE_CHECKING

from nonstrict.text.source import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.check.cache.store import Store
    from nonstrict.text.source import Source

_NAME = "contents.json"
#: A status is trusted only if it was this old when it was noted (nanoseconds): clocks of file systems tick slowly.
_SETTLED = 2_000_000_000
#: On Windows the status has no time of its own.
_TELLS = os.name != "nt"
#: With more notes than this, those that a run does not use are dropped.
_MAX_NOTES = 50_000
#: Bytes that are read at a time: a file may be larger than memory.
_BLOCK = 1 << 20
#: What stands for a file that cannot be read.
GONE = ""


class Contents:
    """The digests of files by path, and what else was noted for the state of a file or folder."""

    def __init__(self, store: Store, supposed: Mapping[str, Source] | None = None) -> None:
        """Take up what was noted of this machine's files before; `supposed` are texts in place of those on the disk."""
        self._store = store
        self._supposed = {os.path.abspath(path): source.text for path, source in (supposed or {}).items()}
        self._noted: dict[str, list[object]] = {}
        self._changed = False
        self._used: set[str] = set()
        document = store.load(_NAME)
        if document is not None and document.get("machine") == _machine():
            self._noted = document["files"]

    def digest(self, path: str) -> str:
        """What identifies the bytes of a file; `GONE` if it cannot be read."""
        path = os.path.abspath(path)
        if path in self._supposed:
            return _supposed(self._supposed[path])
        try:
            state = _state(os.stat(path))
        except OSError:
            return GONE
        known = self._noted.get(path)
        if known is not None and known[0] == state:
            self._used.add(path)
            return str(known[1])
        try:
            with open(path, "rb") as file:
                state = _state(os.fstat(file.fileno()))
                digest = blake2b(digest_size=16)
                while block := file.read(_BLOCK):
                    digest.update(block)
                found = digest.hexdigest()
        except OSError:
            return GONE
        self.note(path, state, found)
        return found

    def text(self, path: str) -> str:
        """What a file holds; nothing if it cannot be read."""
        supposed = self._supposed.get(os.path.abspath(path))
        if supposed is not None:
            return supposed
        try:
            return read_bytes(path).decode("utf-8", "replace")
        except UnreadableSource:
            return ""

    def is_noted(self, what: str, state: list[int]) -> bool:
        """Whether something was noted for a state."""
        known = self._noted.get(what)
        self._used.add(what)
        return known is not None and known[0] == state

    def save(self) -> None:
        """Keep what was noted for the next run."""
        if self._changed:
            if len(self._noted) > _MAX_NOTES:
                self._noted = {what: note for what, note in self._noted.items() if what in self._used}
            self._store.keep(_NAME, {"machine": _machine(), "files": self._noted})

    def note(self, what: str, state: list[int], told: str = "") -> None:
        """Note something for a state, unless that is so young that another may look the same."""
        self._used.add(what)
        settled = _TELLS and (not state or max(state[:2]) < time.time_ns() - _SETTLED)
        if settled:
            self._noted[what] = [state, told]
            self._changed = True
        elif self._noted.pop(what, None) is not None:
            self._changed = True


def _supposed(text: str) -> str:
    """What identifies a text that no file holds; a file of the same text is another one."""
    return f"supposed {blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _state(status: os.stat_result) -> list[int]:
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev]


def folder_state(folder: str) -> list[int]:
    """The state of a folder; nothing if there is none."""
    try:
        return _state(os.stat(folder))
    except OSError:
        return []


def _machine() -> str:
    """What tells this machine from the one that a copied cache was made on."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
