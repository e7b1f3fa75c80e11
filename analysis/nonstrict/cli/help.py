"""How `--help` is laid out."""

from __future__ import annotations

import argparse
import os
import sys


class HelpFormatter(argparse.HelpFormatter):
    """Help with a wider column for the options.

    It measures the terminal itself: argparse makes a formatter for every parser, and would import `shutil` for it.
    """

    def __init__(self, prog: str) -> None:
        """Lay out for the terminal."""
        super().__init__(prog, max_help_position=32, width=_columns() - 2)


def _columns() -> int:
    """The width of the terminal, 80 where there is none; COLUMNS overrides it."""
    configured = os.environ.get("COLUMNS", "")
    if configured.isdigit() and int(configured) > 0:
        return int(configured)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1).columns or 80
    except (OSError, ValueError):
        return 80
