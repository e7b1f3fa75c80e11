"""What a stream can do: colours, and progress on long runs."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

_PATIENCE = 0.7
_INTERVAL = 0.1


def use_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour what is written to a stream, for `--color auto`, `always` or `never`.

    `auto` follows NO_COLOR (https://no-color.org), FORCE_COLOR and TERM, then asks whether it is a terminal.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


class Progress:
    """A line on standard error that counts marked functions, on a terminal, once a run has taken a while."""

    def __init__(self) -> None:
        """Start the clock."""
        self._next = time.monotonic() + _PATIENCE
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Say how far the run is."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        self._shown = True
        sys.stderr.write(f"\r\x1b[KChecked {done:,} of {total:,} marked functions")
        sys.stderr.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
