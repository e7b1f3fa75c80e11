"""Where in the JSON of a notebook the lines of its cells stand."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


class FileRow(NamedTuple):
    """A row of the file and the columns in it between which a line of a cell stands, all from 1."""

    row: int
    column: int
    end: int


def file_rows(text: str) -> list[list[FileRow]]:
    """For each cell of a notebook the places of its lines, given JSON text that parses."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    cells: dict[tuple[str | int, ...], list[FileRow]] = {}
    unfinished: FileRow | None = None
    for path, start, word in _strings(text):
        cell = _cell_of(path)
        if cell is None:
            continue
        rows = cells.setdefault(cell, [])
        if path[-1] in (0, "source", "input"):
            unfinished = None
        row = bisect_right(starts, start)
        for column, end, ends in _lines(word, start - starts[row - 1] + 1):
            if unfinished is None:
                rows.append(FileRow(row, column, end))
            unfinished = None if ends else rows[-1]
    return list(cells.values())


def _cell_of(path: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    """The cell whose text, or a line of it, stands at a path; None where it is something else."""
    for depth in (2, 4):  # format 3 has its cells in worksheets
        rest = path[depth:]
        if len(rest) in (1, 2) and path[depth - 2] == "cells" and rest[0] in ("source", "input"):
            return path[:depth]
    return None


def _strings(text: str) -> Iterator[tuple[tuple[str | int, ...], int, str]]:
    """The strings of a JSON text that are values: the keys and numbers that lead there, the offset, as written."""
    path: list[str | int] = []
    is_key = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{[":
            path.append("" if word == "{" else 0)
            is_key = word == "{"
        elif word in "}]":
            path.pop()
        elif word == ",":
            last = path[-1]
            is_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
        elif word == ":":
            is_key = False
        elif word[0] == '"':
            if is_key:
                path[-1] = json.loads(word)
            else:
                yield tuple(path), token.start(), word


def _lines(word: str, column: int) -> Iterator[tuple[int, int, bool]]:
    """The lines of a string at a column: where each starts and ends, and whether a line end follows."""
    start = 1
    for escape in _ESCAPE.finditer(word):
        if escape[0] == "\\n":
            yield column + start, column + escape.start(), True
            start = escape.end()
    if start < len(word) - 1:
        yield column + start, column + len(word) - 1, False
