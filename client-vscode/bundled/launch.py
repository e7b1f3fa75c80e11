"""Runs nonstrict for the editor: `launch.py environment|bundled COMMAND ...`.

`environment` runs the nonstrict of this interpreter's environment; if there is none, and for `bundled`, it is the one
in `libs` beside this file.
"""

from __future__ import annotations

import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBS = os.path.join(HERE, "libs")


def prepare(strategy: str) -> None:
    """Decide which nonstrict is imported."""
    if sys.path[:1] == [HERE]:
        del sys.path[0]
    if strategy == "bundled" or not all(map(importlib.util.find_spec, ("nonstrict", "nonstrict_server", "pygls"))):
        sys.path.insert(0, LIBS)


if __name__ == "__main__":
    prepare(sys.argv.pop(1))
    from nonstrict.cli.main import command

    command()
