"""Audit events raised below a frame of the user's code: files, processes, sockets, time.

`sys.addaudithook` tells what happens and on which line; it is no barrier. The names of the events are those of the
audit event table in the documentation of Python.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_PREFIXES = (
    *("open", "os.", "shutil.", "socket.", "subprocess.", "tempfile.", "sqlite3.", "urllib.", "builtins.input"),
    *("webbrowser.", "smtplib.", "time.sleep", "fcntl.", "signal.", "ftplib.", "http.client.", "mmap."),
)
_READS = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr")
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MAX_EVENTS = 500
_MAX_TEXT = 80
#: Frames of torch that compile: what they do to files is not the user's doing.
_COMPILING = (f"{os.sep}torch{os.sep}_inductor{os.sep}", f"{os.sep}torch{os.sep}_dynamo{os.sep}utils")


class Events:
    """Collects events while `active`; `is_user` says whether a file is the user's."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self.active = False
        self.seen: list[list[Any]] = []

    def install(self) -> None:
        """Begin to listen; a hook cannot be removed, so this is for processes that end soon."""
        sys.addaudithook(self._hook)

    def taken(self) -> list[list[Any]]:
        """The events since the last call, each `[event, subject, path, line]`."""
        taken, self.seen = self.seen, []
        return taken

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active or not event.startswith(_PREFIXES) or event in _READS or len(self.seen) >= _MAX_EVENTS:
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITE_FLAGS):
            return
        self.active = False
        try:
            frame = self._user_frame()
            if frame is not None:
                subject = str(arguments[0])[:_MAX_TEXT] if arguments else ""
                self.seen.append([event, subject, frame.f_code.co_filename, frame.f_lineno])
        finally:
            self.active = True

    def _user_frame(self) -> FrameType | None:
        """The nearest frame of the user's code, None if torch's compiler stands between."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if self._is_user(name):
                return frame
            if _COMPILING[0] in name or name.find(_COMPILING[1]) >= 0:
                return None
            frame = frame.f_back
        return None
