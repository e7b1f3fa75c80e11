"""Where a text is no code: inside comments and strings, told without parsing it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_STRING_OR_COMMENT = re.compile(
    r"""\#[^\n]*"""
    r'''|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'''
    r"""|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"""
    r'''|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'''
    r"""|'[^'\\\n]*(?:\\.[^'\\\n]*)*'""",
    re.DOTALL,
)
#: What may stand before the quotes of a string, at its end.
_PREFIX = re.compile(r"(?<!\w)\w{1,2}$")


class LongString(NamedTuple):
    """A string of several lines, from its first quote to behind its last one.

    A `formatted` one may hold code.
    """

    start: int
    end: int
    formatted: bool


def long_strings(code: str) -> tuple[list[LongString], bool]:
    """The strings of several lines, in order, and whether each triple quote that opens one is closed."""
    found: list[LongString] = []
    closed = True
    if '"""' not in code and "'''" not in code:
        return found, closed
    for match in _STRING_OR_COMMENT.finditer(code):
        start, end = match.span()
        if end - start > 6:
            if code[start] != "#" and code.find("\n", start, end) >= 0:
                found.append(LongString(start, end, _is_formatted(code, start)))
        elif end - start == 2 and code[end : end + 1] == code[start] != "#":
            closed = False  # read as an empty string and the start of another
    return found, closed


def is_code(code: str, strings: Sequence[LongString], position: int) -> bool:
    """Whether a position may be code, neither a comment nor a plain string; `strings` are the long ones of the text."""
    first = code.rfind("\n", 0, position) + 1
    index = bisect_right(strings, position, key=_start) - 1
    if index >= 0:
        before = strings[index]
        if position < before.end:
            return before.formatted
        first = max(first, before.end)
    if code[first - 2 : first] == "\\\n":
        return True  # may be inside a string that goes on behind the end of its line
    for match in _STRING_OR_COMMENT.finditer(code, first):
        if match.start() > position:
            break
        if position < match.end():
            return code[match.start()] != "#" and _is_formatted(code, match.start())
    return True


def in_text(strings: Sequence[LongString], position: int) -> bool:
    """Whether a position lies inside a plain long string."""
    index = bisect_right(strings, position, key=_start) - 1
    return index >= 0 and position < strings[index].end and not strings[index].formatted


def in_comment(code: str, position: int) -> bool:
    """Whether a position outside long strings surely lies in a comment."""
    line = code[code.rfind("\n", 0, position) + 1 : position]
    before, sign, after = line.partition("#")
    return bool(sign) and not _QUOTES.search(before) and '"""' not in after and "'''" not in after


_QUOTES = re.compile("[\"']")


def _start(string: LongString) -> int:
    return string.start


def _is_formatted(code: str, start: int) -> bool:
    prefix = _PREFIX.search(code, max(0, start - 3), start)
    return prefix is not None and not _FORMATTED.isdisjoint(prefix[0])


_FORMATTED = frozenset("fFtT")
