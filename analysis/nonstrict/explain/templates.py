"""Texts of torch with places where it puts something in, and where they stand in a pasted text.

`{...}` in a template is a place: it matches anything, up to a limit. All else is literal. White space does not count,
so that lines may be wrapped anywhere, nor does case. A template of few letters has to be a line of its own. Names of
graph breaks are the words of many programs: those of few letters need torch's own words around them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: What stands for whatever torch puts into a text.
PLACE = "{...}"
#: So much is put in at most, without white space.
_LONGEST = 2_000
#: So often is a text looked for.
_MOST = 500
#: Templates with fewer literal characters are compared with whole lines.
_SHORT = 24
#: The same of names and explanations of breaks.
_SHORT_BREAK = 36
#: What torch writes before a name or an explanation of a break, without white space and in lower case.
_BEFORE_BREAK = re.compile(r"(?:.*torch\._dynamo\.exc\.)?unsupported:|graphbreakreason:|explanation:")
_EXPLAINED = "explanation:"
#: Above this many characters, templates are left out of which a word is missing.
_LARGE = 200_000
_WORD = re.compile(r"[a-z_]{4,}")


class Squeezed(NamedTuple):
    """A text without white space and in lower case; by line where it begins in it."""

    text: str
    starts: Sequence[int]

    def line_at(self, offset: int) -> int:
        """The index of the line that holds an offset."""
        return bisect_right(self.starts, offset) - 1

    def begins_line(self, offset: int) -> bool:
        """Whether nothing, or the name of an exception, stands before an offset in its line."""
        start = self.starts[self.line_at(offset)]
        return offset == start or self.text[offset - 1] == ":"

    def line_end(self, offset: int) -> int:
        """Where the line ends that holds the character before an offset."""
        following = self.line_at(offset - 1) + 1
        return self.starts[following] if following < len(self.starts) else len(self.text)

    def is_break(self, start: int, end: int) -> bool:
        """Whether a range is a whole line, or stands in torch's form of a graph break."""
        first = self.starts[self.line_at(start)]
        if self.text.startswith(_EXPLAINED, end) and self.begins_line(start):
            return True
        is_named = start == first or _BEFORE_BREAK.fullmatch(self.text, first, start) is not None
        return is_named and self.ends_line(end)

    def ends_line(self, offset: int) -> bool:
        """Whether nothing stands behind an offset in its line."""
        return offset == len(self.text) or self.starts[self.line_at(offset)] == offset


class Template:
    """A text of torch, to be looked for; `of_break` if it is a name or an explanation of a graph break."""

    __slots__ = ("_of_break", "_opens", "_short", "anchor", "length", "parts", "text", "words")

    def __init__(self, text: str, *, of_break: bool = False) -> None:
        """Take it apart at its places."""
        self.text = text
        self._of_break = of_break
        self._short = _SHORT_BREAK if of_break else _SHORT
        self.parts = [part for one in text.split(PLACE) if (part := squeezed_text(one))]
        self._opens = (text.startswith(PLACE), text.endswith(PLACE))
        self.length = sum(map(len, self.parts))
        self.anchor = max(range(len(self.parts)), key=lambda index: len(self.parts[index]), default=-1)
        longest = max(text.split(PLACE), key=len)
        self.words = frozenset(_WORD.findall(longest.lower())[1:-1])

    def found(self, where: Squeezed) -> Iterator[tuple[int, int]]:
        """Where it stands in a text, as ranges of it, from left to right."""
        if self.anchor < 0:
            return
        text, part, last = where.text, self.parts[self.anchor], 0
        for _ in range(_MOST):
            at = text.find(part, last)
            if at < 0:
                return
            last = at + len(part)
            start, end = self._before(text, at), self._behind(text, last)
            if start >= 0 and end >= 0 and (self.length >= self._short or self._is_line(where, start, end)):
                yield start, end

    def contains(self, excerpt: str) -> bool:
        """Whether a text without white space is part of its literal text, and long enough to say something."""
        return len(excerpt) >= self._short and any(excerpt in part for part in self.parts)

    def _before(self, text: str, start: int) -> int:
        for part in reversed(self.parts[: self.anchor]):
            start = text.rfind(part, max(0, start - _LONGEST), start)
            if start < 0:
                return -1
        return start

    def _behind(self, text: str, end: int) -> int:
        for part in self.parts[self.anchor + 1 :]:
            at = text.find(part, end, end + _LONGEST)
            if at < 0:
                return -1
            end = at + len(part)
        return end

    def _is_line(self, where: Squeezed, start: int, end: int) -> bool:
        """Whether nothing else stands in its lines, but for what its places match."""
        if self._of_break:
            start = where.starts[where.line_at(start)] if self._opens[0] else start
            return where.is_break(start, where.line_end(end) if self._opens[1] else end)
        return (self._opens[0] or where.begins_line(start)) and (self._opens[1] or where.ends_line(end))


class Match(NamedTuple):
    """A template in a text: its number among those that were looked for, and the range."""

    number: int
    start: int
    end: int
    length: int


def squeezed_text(text: str) -> str:
    """A text without white space, in lower case."""
    return "".join(text.split()).lower()


def squeezed(lines: Iterable[str]) -> Squeezed:
    """The same of lines."""
    parts: list[str] = []
    starts: list[int] = []
    offset = 0
    for line in lines:
        starts.append(offset)
        parts.append(squeezed_text(line))
        offset += len(parts[-1])
    return Squeezed("".join(parts), starts)


def matches(templates: Sequence[Template], where: Squeezed, words: frozenset[str] | None = None) -> list[Match]:
    """The templates in a text, in its order: where several fit the same place, the one with the most literal text.

    `words` are those of a large text, by which most templates need not be looked for.
    """
    candidates: list[Match] = []
    for number, template in enumerate(templates):
        if words is not None and not template.words <= words:
            continue
        candidates += [Match(number, *place, template.length) for place in template.found(where)]
    kept: list[Match] = []
    taken: list[tuple[int, int]] = []
    for one in sorted(candidates, key=lambda one: (-one.length, one.start, one.number)):
        at = bisect_right(taken, (one.start, one.end))
        before, behind = taken[at - 1 : at], taken[at : at + 1]
        if not any(end > one.start for _, end in before) and not any(start < one.end for start, _ in behind):
            taken.insert(at, (one.start, one.end))
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def words_of(lines: Iterable[str], size: int) -> frozenset[str] | None:
    """The words of a large text; None for one that is small enough to look for everything."""
    if size < _LARGE:
        return None
    found: set[str] = set()
    for line in lines:
        found.update(_WORD.findall(line.lower()))
    return frozenset(found)
