"""`nonstrict mcp`: the commands as tools of an agent that speaks the model context protocol."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nonstrict.cli.failure import report_failure

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "roots",
        nargs="*",
        metavar="DIR",
        help="the workspace folders; files outside of them are refused (default: .)",
    )
    parser.add_argument(
        "--untrusted-workspace",
        action="store_true",
        help="run no code of the workspace: the tool `confirm` is not offered",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the client is gone; the exit status."""
    roots: list[str] = options.roots or [os.curdir]
    for root in roots:
        if not os.path.isdir(root):
            return report_failure(f"{root or 'a root'} is not a folder.")
    if find_spec("mcp") is None:
        return report_failure("the SDK of the protocol is not installed. `pip install 'nonstrict[mcp]'` installs it.")
    # An import upwards, as that of `nonstrict server`.
    from nonstrict_mcp.main import serve

    return serve(roots, experiments=not options.untrusted_workspace)
