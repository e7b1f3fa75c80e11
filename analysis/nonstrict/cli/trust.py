"""`nonstrict trust`: says which folders may bring their own interpreter."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Experiments run in a sandbox, but the interpreter that starts it does not. That of a folder (its .venv, or "
        "`python` in its settings) is used only if the folder is trusted, or one above it."
    )
    parser.add_argument("path", nargs="?", default=".", help="a folder and everything below it (default: .)")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--remove", action="store_true", help="stop trusting it")
    way.add_argument("--list", action="store_true", help="list trusted folders")


def run(options: argparse.Namespace) -> int:
    """Change or show the list."""
    from nonstrict.confirm import trust

    try:
        if options.list:
            sys.stdout.writelines(f"{path}\n" for path in trust.trusted_folders())
            return ExitStatus.CLEAN
        if options.remove:
            known = trust.distrust(options.path)
            said = "no longer trusted" if known else "not on the list"
            sys.stdout.write(f"{os.path.realpath(options.path)} is {said}.\n")
            return ExitStatus.CLEAN
        if not os.path.isdir(options.path):
            return report_failure(f"{options.path}: there is no such folder")
        sys.stdout.write(f"{trust.trust(options.path)} is trusted.\n")
    except trust.TrustError as error:
        return report_failure(str(error))
    return ExitStatus.CLEAN
