"""A notebook or page as its reader has run it: what a function calls is what was defined when its cell ran."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nonstrict.text.source import Source

_DEFINITION = re.compile(r"(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)")
_CONTINUED = re.compile(r"[ \t)\]}#]|$")


def epochs(source: Source) -> list[Source]:
    """The states of a source that lie before a cell which defines a function or class anew, and the last one.

    Pages show a function, then a better one of the same name. Read as one module only the last would count, and the
    first would be called by what was written for it. A state ends before the cell that replaces something; what it
    replaced itself is blanked, so that lines and columns are kept. Empty where nothing is defined twice.
    """
    lines = source.code.split("\n")
    ends: list[int] = []
    known: set[str] = set()
    end = 0
    for cell in source.cells:
        first, last = cell.first - 1, cell.first - 1 + cell.lines
        defined = {name for name, _, _ in _definitions(lines, first, last)}
        if defined & known:
            ends.append(end)
            known = set()
        known |= defined
        end = last
    return [_state(source, lines, end) for end in (*ends, len(lines))] if ends else []


def _state(source: Source, lines: list[str], end: int) -> Source:
    """The first lines of a source, without the definitions among them that later ones replace."""
    kept = [*lines[:end], *[""] * (len(lines) - end)]
    seen: dict[str, tuple[int, int]] = {}
    for name, first, last in _definitions(lines, 0, end):
        if name in seen:
            begin, stop = seen[name]
            kept[begin:stop] = [""] * (stop - begin)
        seen[name] = (first, last)
    return replace(source, code="\n".join(kept))


def _definitions(lines: list[str], first: int, last: int) -> list[tuple[str, int, int]]:
    """The functions and classes at the left margin: name, index of the first line with decorators, index behind."""
    found: list[tuple[str, int, int]] = []
    decorated = -1
    for index in range(first, last):
        line = lines[index]
        if line.startswith("@"):
            decorated = index if decorated < 0 else decorated
            continue
        match = _DEFINITION.match(line)
        if match is not None:
            stop = index + 1
            while stop < last and _CONTINUED.match(lines[stop]):
                stop += 1
            found.append((match[1], decorated if decorated >= 0 else index, stop))
        if not _CONTINUED.match(line):
            decorated = -1
    return found
