"""Where a process leaves what it has seen: a file of its own, one JSON object a line.

A line is written at once and whole, so that it outlives crashes, `os._exit` and signals. The file is opened for each
line: programs close descriptors that they do not know, and fork.
"""

from __future__ import annotations

import json
import os
from typing import Any


class Spool:
    """The files of one run of a command, one for each process."""

    def __init__(self, directory: str) -> None:
        """Nothing is opened yet."""
        self._directory = os.path.abspath(directory)

    def write(self, record: dict[str, Any]) -> None:
        """Append a line; nothing where that is not possible (the directory is gone, the disk is full)."""
        path = os.path.join(self._directory, f"{os.getpid()}.jsonl")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError:
            return
        try:
            os.write(descriptor, json.dumps(record, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
        except (OSError, ValueError, TypeError):
            return
        finally:
            os.close(descriptor)
