"""`nonstrict schema`: the JSON schemas of the settings and of what commands write as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nonstrict import schemas
from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    known = schemas.names()
    parser.add_argument(
        "name", nargs="?", choices=known, metavar="NAME", help=f"{', '.join(known)}; without it, a list"
    )


def run(options: argparse.Namespace) -> int:
    """Show a schema, or list them."""
    sys.stdout.write(schemas.text_of(options.name) if options.name is not None else _listed())
    return ExitStatus.CLEAN


def _listed() -> str:
    import json

    known = schemas.names()
    width = max(map(len, known))
    return "".join(f"{name:<{width}}  {json.loads(schemas.text_of(name))['description']}\n" for name in known)
