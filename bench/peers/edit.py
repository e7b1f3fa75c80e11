"""Makes one edit in a copy of a project: a line at the top of a module that is drawn.

    python bench/peers/edit.py FOLDER [--seed 0]

How many edits were made is kept beside the folder, so that each call takes another module.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path


def drawn(folder: Path, number: int, seed: int) -> Path:
    """The module of the edit with that number: each is drawn once before any is drawn again."""
    modules = sorted(path for path in folder.rglob("*.py") if path.stat().st_size)
    random.Random(seed).shuffle(modules)  # noqa: S311 - nothing is kept secret
    return modules[number % len(modules)]


def edit(folder: Path, seed: int = 0) -> Path:
    """Make the next edit; returns the module."""
    counted = folder.with_name(f"{folder.name}.edits")
    number = int(counted.read_text()) if counted.exists() else 0
    path = drawn(folder, number, seed)
    path.write_bytes(b"# edited\n" + path.read_bytes())
    counted.write_text(str(number + 1))
    return path


def main() -> None:
    """Edit as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    edit(options.folder, options.seed)


if __name__ == "__main__":
    main()
