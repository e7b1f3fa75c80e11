"""`nonstrict version`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nonstrict import __version__
from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    import argparse

    from nonstrict.report.record_types import VersionRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Show the version."""
    if getattr(options, "output_format", "text") == "json":
        import json

        record: VersionRecord = {"version": __version__}
        sys.stdout.write(json.dumps(record) + "\n")
    else:
        sys.stdout.write(f"nonstrict {__version__}\n")
    return ExitStatus.CLEAN
