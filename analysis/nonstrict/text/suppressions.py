"""Suppression comments (`# nonstrict: ignore[...]`, `# nonstrict: file-ignore[...]`, `# noqa`) and their use."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nonstrict.findings import UNUSED_SUPPRESSION, Span
from nonstrict.text.directives import BEGINNING, misspelled
from nonstrict.text.lexer import comments, statement_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.text.source import Source

_HINT = re.compile(r"#.*(?:nonstrict(?::|\s+(?:file-)?ignore)|noqa)", re.IGNORECASE)
_IGNORE = re.compile(
    r"#\s*nonstrict:\s*(?P<file>file-)?ignore(?![\w-])"
    r"(?:\s*\[(?P<listed>[^\]]*)\]?|[\s:]+(?P<bare>NST\d+(?:[\s,]+NST\d+)*))?",
    re.IGNORECASE,
)
# The form that flake8 and ruff share: codes are letters and digits, separated by commas or spaces.
_NOQA = re.compile(r"#\s*noqa(?:\s*:\s*(?P<listed>[A-Z]+\d+(?:[\s,]+[A-Z]+\d+\b)*)|(?![\w:]))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One suppression. `codes` is empty for a blanket one; lines count in the analysed code, both ends included."""

    span: Span
    codes: tuple[str, ...]
    blanket: bool
    first: int
    last: int
    reported: bool = True


@dataclass(slots=True)
class Suppressions:
    """The suppressions of one file. Asking `covers` notes which of them did something."""

    entries: tuple[_Entry, ...]
    unknown: tuple[tuple[Span, str], ...] = ()
    """Comments that begin as suppressions do and say something else: their places, and the words that they say."""
    used: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    def covers(self, code: str, first_row: int, last_row: int | None = None) -> bool:
        """Whether a finding of a code, on these lines of the analysed code (from 1), is suppressed.

        A comment counts on the first and the last line of the finding, and above or behind the statement in which
        the finding starts. A blanket suppression does not hide that it is itself unused (NST902).
        """
        last_row = first_row if last_row is None else last_row
        covered = False
        for index, entry in enumerate(self.entries):
            ends_here = entry.first == entry.last == last_row
            if not entry.first <= first_row <= entry.last and not ends_here:
                continue
            if entry.blanket and (code != UNUSED_SUPPRESSION or not entry.reported):
                self.used.add((index, ""))
                covered = True
            for named in entry.codes:
                if code == named or (named.startswith("NST") and code.startswith(named)):
                    self.used.add((index, named))
                    covered = True
        return covered

    def unused(self) -> list[tuple[Span, tuple[str, ...]]]:
        """The place of each comment that suppressed nothing so far, with the codes that are idle (none: all are).

        Names that no rule has stand there as they were written. A bare `# noqa` is never unused: others read it too.
        """
        idle: list[tuple[Span, tuple[str, ...]]] = []
        for index, entry in enumerate(self.entries):
            if not entry.reported:
                continue
            codes = tuple(code for code in entry.codes if (index, code) not in self.used and code != UNUSED_SUPPRESSION)
            if codes or (not entry.codes and (index, "") not in self.used):
                idle.append((entry.span, codes))
        return idle


def suppressions(source: Source, codes: Mapping[str, str]) -> Suppressions:
    """Read the suppression comments of a source; `codes` maps rule names to codes.

    Comments only: a `#` within a string suppresses nothing.
    """
    if _HINT.search(source.code) is None:
        return Suppressions(())
    reader = _Reader(source, codes)
    return Suppressions(tuple(reader.entries()), tuple(reader.unknown))


class _Reader:
    """Finds the comments of a source and the lines that each governs."""

    def __init__(self, source: Source, codes: Mapping[str, str]) -> None:
        self._path = source.path
        self._code = source.code
        self._lines = source.lines
        self._names = {name.lower(): code for name, code in codes.items()}
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._logical: list[int] | None = None
        self.unknown: list[tuple[Span, str]] = []

    def entries(self) -> list[_Entry]:
        found: list[_Entry] = []
        for start, end in comments(self._code):
            text = self._code[start:end]
            if _HINT.match(text):
                found += self._of_comment(start, text)
        return found

    def _of_comment(self, start: int, text: str) -> list[_Entry]:
        line = bisect_right(self._starts, start)
        first, last = self._governed(line, start)
        found: list[_Entry] = []
        for beginning in BEGINNING.finditer(text):
            word = misspelled(text, beginning.start(), beginning)
            if word is not None:
                self.unknown.append((self._span(line, start + beginning.start(), start + beginning.end()), word))
        for match in _IGNORE.finditer(text):
            lines = (1, len(self._lines)) if match["file"] else (first, last)
            listed = match["listed"] if match["listed"] is not None else match["bare"]
            span = self._span(line, start + match.start(), start + match.end())
            found.append(_Entry(span, self._codes(listed or ""), listed is None, *lines))
        for match in _NOQA.finditer(text):
            span = self._span(line, start + match.start(), start + match.end())
            if match["listed"] is None:
                found.append(_Entry(span, (), blanket=True, first=first, last=last, reported=False))
            elif ours := tuple(code for code in self._codes(match["listed"]) if code.startswith("NST")):
                found.append(_Entry(span, ours, blanket=False, first=first, last=last))
        return found

    def _codes(self, listed: str) -> tuple[str, ...]:
        words = [word for word in re.split(r"[\s,]+", listed) if word]
        return tuple(dict.fromkeys(self._names.get(word.lower(), _upper_code(word)) for word in words))

    def _span(self, line: int, start: int, end: int) -> Span:
        text = self._lines[line - 1]
        offset = self._starts[line - 1]
        columns = [len(text[: place - offset].encode()) for place in (start, end)]
        return Span(self._path, line, columns[0], line, columns[1])

    def _governed(self, line: int, start: int) -> tuple[int, int]:
        """The lines whose findings a comment concerns.

        Behind code it is its own line, or the whole statement whose last line this is. Alone on a line it is the
        statement that starts below, or, between brackets, the next line.
        """
        before = self._lines[line - 1][: start - self._starts[line - 1]]
        if before.strip():
            return (self._statement_start(line), line) if self._ends_statement(line) else (line, line)
        below = line + 1
        while below <= len(self._lines) and self._lines[below - 1].lstrip().startswith("#"):
            below += 1
        if below > len(self._lines):
            return line, line
        last = self._statement_last(below)
        while self._lines[below - 1].lstrip().startswith("@") and last < len(self._lines):
            # What is decorated belongs to its decorators.
            following = last + 1
            last = self._statement_last(following)
            if not self._lines[following - 1].lstrip().startswith("@"):
                break
        return line, last

    def _statements(self) -> list[int]:
        """The first lines of all logical lines, in order."""
        if self._logical is None:
            self._logical = []
            position = 0
            while position < len(self._code):
                self._logical.append(bisect_right(self._starts, position))
                position = statement_end(self._code, position)
        return self._logical

    def _statement_start(self, line: int) -> int:
        logical = self._statements()
        return logical[max(bisect_right(logical, line) - 1, 0)]

    def _statement_last(self, line: int) -> int:
        """The last line of the statement that starts at a line; the line itself where none starts there."""
        logical = self._statements()
        index = bisect_right(logical, line)
        if index == 0 or logical[index - 1] != line:
            return line
        return logical[index] - 1 if index < len(logical) else len(self._lines)

    def _ends_statement(self, line: int) -> bool:
        logical = self._statements()
        index = bisect_right(logical, line)
        following = logical[index] if index < len(logical) else len(self._lines) + 1
        return following == line + 1 and self._lines[line - 1].lstrip()[:1] in {")", "]", "}"}


def _upper_code(word: str) -> str:
    return word.upper() if re.fullmatch(r"[A-Za-z]+\d+", word) else word
