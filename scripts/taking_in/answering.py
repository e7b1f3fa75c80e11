"""Prints the findings in a group of files by the tables in a folder, as JSON: `answering.py DATA GROUP RELEASE`.

A process of its own, since tables are read once in each.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path


def main() -> None:
    """Print them; what the command line says meanwhile goes to standard error."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from nonstrict.knowledge import store
    from scripts.golden import GROUPS

    data, group, release = sys.argv[1:]
    store.DATA = data
    with contextlib.redirect_stdout(sys.stderr):
        found = GROUPS[group]("--torch-version", release)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
