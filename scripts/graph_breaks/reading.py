"""Reads the hand-written constructs of `constructs/*.txt`: a key and the Python that stands in a compiled region.

    # A comment.
    call:os.getcwd    os.getcwd()
    stmt:if-tensor
        if x.sum() > 0:
            x = x + 1
    !call:builtins.input    input()

Key and code are separated by two spaces at least, or the code follows indented. A key with `!` in front fails, waits
or does harm in plain Python too and is only traced. Several lines of code with the same key are ways to do the same:
the construct breaks only if each of them does.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "constructs"


class Construct(NamedTuple):
    """A key of the table and the ways to write it.

    `plain`: plain Python can run it. `swept`: the ways were made by trying argument lists, so most are wrong.
    `harmful`: it must not be run at all.
    """

    key: str
    ways: tuple[str, ...]
    plain: bool = True
    swept: bool = False
    harmful: bool = False


def read_constructs(folder: Path = FOLDER) -> list[Construct]:
    """All hand-written constructs, sorted by key.

    Raises:
        ValueError: a line is neither a comment nor a key with code.
    """
    ways: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.txt")):
        for key, code in entries(path.read_text(encoding="utf-8")):
            ways.setdefault(key, []).append(code)
    constructs = [
        Construct(key.removeprefix("!"), tuple(codes), not key.startswith("!")) for key, codes in ways.items()
    ]
    return sorted(constructs)


def entries(text: str) -> list[tuple[str, str]]:
    """The pairs of key and code in one file."""
    found: list[tuple[str, str]] = []
    for block in re.split(r"\n(?=\S)", text.rstrip()):
        if block.startswith("#") or not block.strip():
            continue
        first, _, rest = block.partition("\n")
        key, _, code = first.partition("  ")
        code = code.strip() or textwrap.dedent(rest).strip()
        if not code or " " in key or ":" not in key + ":":
            raise ValueError(f"not a construct: {block!r}")
        found.append((key, code))
    return found
