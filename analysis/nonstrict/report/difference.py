"""`--diff`: what fixes change as a unified difference, of notebooks cell by cell."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

from nonstrict.report.style import Style, one_line
from nonstrict.text.decode import decode
from nonstrict.text.source import SourceKind, source_from_bytes, source_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

_STYLES = {"-": "removed", "+": "added", "@": "blue"}


def render_difference(path: str, before: bytes, after: bytes, *, color: bool = False) -> str:
    """The difference between two states of a file; empty without one."""
    style = Style(color)
    if source_kind(path) is SourceKind.NOTEBOOK:
        pairs = zip(_cells(path, before), _cells(path, after), strict=False)
        texts = [(f"{path}:cell {number}", old, new) for (number, old), (_, new) in pairs]
    else:
        texts = [(path, _lines(decode(before).text), _lines(decode(after).text))]
    return "".join(line for name, old, new in texts for line in _painted(one_line(name), old, new, style))


def unified(names: tuple[str, str], old: str, new: str) -> str:
    """The unified difference between two texts of a file, for programs that apply it; empty without one."""
    return "".join(_ended(line) for line in unified_diff(_lines(old), _lines(new), *names))


def _painted(name: str, old: list[str], new: list[str], style: Style) -> Iterator[str]:
    for line in unified_diff(old, new, name, name):
        text = line.rstrip("\n")
        yield style.paint(_STYLES[line[0]], text) + _ended(line)[len(text) :] if line[0] in _STYLES else _ended(line)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _cells(path: str, data: bytes) -> Iterator[tuple[int, list[str]]]:
    """The code cells of a notebook; their last lines are taken to end like the others."""
    source = source_from_bytes(path, data)
    for cell in source.cells:
        number = cell.number or 0
        yield number, [source.line_text(row, number) + "\n" for row in range(1, cell.lines + 1)]


def _lines(text: str) -> list[str]:
    """The lines with their ends; only LF ends one, as programs that apply differences have it."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
