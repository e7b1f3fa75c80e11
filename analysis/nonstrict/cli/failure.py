"""Saying on standard error why the tool could not do its job."""

from __future__ import annotations

import sys

from nonstrict.cli.status import ExitStatus


def report_failure(message: str) -> ExitStatus:
    """Write a sentence for users; the status to leave with."""
    for line in message.splitlines():
        sys.stderr.write(f"nonstrict: {line}\n")
    return ExitStatus.FAILURE
