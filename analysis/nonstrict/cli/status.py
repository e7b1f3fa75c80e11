"""Exit statuses."""

from __future__ import annotations

import enum


class ExitStatus(enum.IntEnum):
    """What the exit status of the process says."""

    CLEAN = 0
    """Nothing at or above `--fail-on` was found."""
    FINDINGS = 1
    """Something at or above `--fail-on` was found."""
    FAILURE = 2
    """The tool could not do its job: wrong arguments or configuration, unreadable files, a fault of its own."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 + SIGINT."""
