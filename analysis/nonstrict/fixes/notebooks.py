"""Rewrites the text of cells within the JSON of a notebook, and nothing else of the file.

`nonstrict.text.notebook` says which cells count; here is where their text stands. Of a text that is kept as a list of
lines, only the lines that change are written anew.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, cast

from nonstrict.fixes.applying import CannotApply, Replacement, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

_BLANKS = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_decode = json.JSONDecoder().raw_decode


class _Value(NamedTuple):
    """A value of a JSON text, and where it stands."""

    value: object
    start: int
    end: int


def with_cells(text: str, edits: Callable[[int, str], Sequence[Replacement]], wanted: Collection[int]) -> str:
    """The JSON text of a notebook with the replacements made that `edits(number, text)` gives for its code cells.

    Cells are counted from 1, all kinds of them; only those `wanted` are asked for.

    Raises:
        CannotApply: one of the wanted cells is not there.
    """
    numbers = set(wanted)
    found: list[Replacement] = []
    try:
        for number, cell in enumerate(_cells(text), 1):
            if number in numbers:
                numbers.discard(number)
                found += _of_cell(text, cell, number, edits)
    except (ValueError, IndexError, RecursionError) as error:
        raise CannotApply(f"the JSON of the notebook does not parse ({error})") from error
    if numbers:
        raise CannotApply(f"the notebook has no cell {min(numbers)}")
    return replaced(text, found)


def _of_cell(
    text: str, cell: _Value, number: int, edits: Callable[[int, str], Sequence[Replacement]]
) -> Iterator[Replacement]:
    """What a cell's value becomes, as a replacement in the JSON text."""
    members = dict(_members(text, cell.start))
    source = members.get("source", members.get("input"))
    value = source.value if source is not None else None
    if source is None or not isinstance(value, (str, list)):
        raise CannotApply(f"cell {number} of the notebook has no text")
    old = text[source.start : source.end]
    if isinstance(value, str):
        made = edits(number, value)
        new = _written(replaced(value, made), old, value) if made else old
    else:
        parts = list(_elements(text, source.start))
        values = [part.value if isinstance(part.value, str) else "" for part in parts]
        new = _list(text, source, parts, values, edits(number, "".join(values)))
    if new != old:
        yield Replacement(source.start, source.end, new)


def _list(
    text: str, source: _Value, parts: Sequence[_Value], values: Sequence[str], made: Sequence[Replacement]
) -> str:
    """A list of lines with replacements made; the parts that none of them touches are kept as they are written."""
    if not made:
        return text[source.start : source.end]
    if not parts:
        return f"[{', '.join(_written(line, '', '') for line in _lines(made[0].text))}]"
    ends = list(accumulate(len(value) for value in values))
    written: list[str] = []
    index = 0
    pending = list(made)
    while index < len(parts):
        start, last = ends[index] - len(values[index]), index
        if not pending or (pending[0].start >= ends[index] and index + 1 < len(parts)):
            written.append(text[parts[index].start : parts[index].end])
            index += 1
            continue
        here: list[Replacement] = []
        while pending and (pending[0].start < ends[last] or last + 1 == len(parts)):
            here.append(pending.pop(0))
            while here[-1].end > ends[last]:
                last += 1
        value = "".join(values[index : last + 1])
        raw = text[parts[index].start : parts[last].end]
        new = replaced(value, [Replacement(a - start, b - start, new) for a, b, new in here])
        written += [_written(line, raw, value) for line in _lines(new)]
        index = last + 1
    opening = text[source.start : parts[0].start]
    between = text[parts[0].end : parts[1].start] if len(parts) > 1 else f",{opening[1:] or ' '}"
    return opening + between.join(written) + text[parts[-1].end : source.end]


def _lines(text: str) -> list[str]:
    """The parts that a notebook keeps a text in: lines, each with its end."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _written(value: str, old: str, before: str) -> str:
    """A string as JSON, escaped as the text was that it replaces."""
    escaped = (old.isascii() and not before.isascii()) or _SURROGATE.search(value) is not None
    return json.dumps(value, ensure_ascii=escaped)


# -- where values stand -----------------------------------------------------------------------------------------------


def _cells(text: str) -> Iterator[_Value]:
    """The cells of a notebook, in order."""
    notebook = dict(_members(text, _skip(text, 0)))
    cells, sheets = notebook.get("cells"), notebook.get("worksheets")
    if (cells is None or cells.value is None) and sheets is not None and isinstance(sheets.value, list):
        for sheet in _elements(text, sheets.start):
            members = dict(_members(text, sheet.start)) if isinstance(sheet.value, dict) else {}
            yield from _listed(text, members.get("cells"))
    else:
        yield from _listed(text, cells)


def _listed(text: str, value: _Value | None) -> Iterator[_Value]:
    if value is not None and isinstance(value.value, list):
        yield from _elements(text, value.start)


def _members(text: str, start: int) -> Iterator[tuple[str, _Value]]:
    """The keys and values of the object that stands at a position."""
    if text[start : start + 1] != "{":
        raise CannotApply("a cell of the notebook is no object")
    position = _skip(text, start + 1)
    while text[position] != "}":
        key, position = cast("tuple[str, int]", _decode(text, position))
        member = _value(text, _skip(text, _skip(text, position) + 1))
        yield key, member
        position = _after(text, member)


def _elements(text: str, start: int) -> Iterator[_Value]:
    """The values of the list that stands at a position."""
    position = _skip(text, start + 1)
    while text[position] != "]":
        element = _value(text, position)
        yield element
        position = _after(text, element)


def _value(text: str, start: int) -> _Value:
    value, end = cast("tuple[object, int]", _decode(text, start))
    return _Value(value, start, end)


def _after(text: str, value: _Value) -> int:
    """Where the next member or element, or the closing bracket, stands."""
    position = _skip(text, value.end)
    return _skip(text, position + 1) if text[position] == "," else position


def _skip(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return found.end() if found is not None else position
