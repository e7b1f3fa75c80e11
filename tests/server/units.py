"""Positions of the protocol and edits of texts, written once more: the server's own may be wrong."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from lsprotocol.types import Position, Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsprotocol.types import TextEdit

#: The ends of lines that the protocol knows: a form feed or U+2028 is none.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
#: Bytes of one unit of an encoding.
_UNIT = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def width(text: str, encoding: str) -> int:
    """The length of a text in the units of `utf-8`, `utf-16` or `utf-32`."""
    codec, size = _UNIT[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def lines_of(text: str) -> list[str]:
    """The lines of a document with their ends; there is always one more than there are ends."""
    lines = _LINE.findall(text)
    return lines if lines and lines[-1][-1] not in "\r\n" else [*lines, ""]


def position_at(text: str, offset: int, encoding: str) -> Position:
    """The position of the offset, which counts code points."""
    lines = lines_of(text[:offset])
    return Position(len(lines) - 1, width(lines[-1], encoding))


def offset_at(text: str, position: Position, encoding: str) -> int:
    """The offset of a position in code points.

    Raises:
        AssertionError: it is outside the text, or inside a character.
    """
    lines = lines_of(text)
    assert position.line < len(lines), f"{position} is below the text"
    line = lines[position.line]
    for column in range(len(line) + 1):
        if width(line[:column], encoding) == position.character:
            return sum(map(len, lines[: position.line])) + column
    msg = f"{position} is outside {line!r}, or inside a character"
    raise AssertionError(msg)


def range_of(text: str, words: str, encoding: str) -> Range:
    """Where words stand for the first time."""
    start = text.index(words)
    return Range(position_at(text, start, encoding), position_at(text, start + len(words), encoding))


def words_at(text: str, place: Range, encoding: str) -> str:
    """What stands in a range."""
    return text[offset_at(text, place.start, encoding) : offset_at(text, place.end, encoding)]


def applied(text: str, edits: Sequence[TextEdit], encoding: str) -> str:
    """The text after edits, which all speak of the text before.

    Raises:
        AssertionError: a position is not one of the text, or two edits overlap.
    """
    spans = sorted(
        (offset_at(text, edit.range.start, encoding), offset_at(text, edit.range.end, encoding), edit.new_text)
        for edit in edits
    )
    for (_, end, _), (start, _, _) in itertools.pairwise(spans):
        assert end <= start, "edits overlap"
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


def change_between(old: str, new: str) -> tuple[int, int, str]:
    """The part of the old text that changes, from offset to offset, and what replaces it."""
    start = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    start = min(len(old), len(new)) if start is None else start
    start -= start > 0 and old[start - 1] == "\r"
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    end -= end > 0 and old[-end] == "\n"
    return start, len(old) - end, new[start : len(new) - end]
