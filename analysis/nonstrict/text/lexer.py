"""A light lexer: strings, comments and brackets of Python-like text, valid or not, by one regular expression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# A string that is never closed ends with its line (or, between triple quotes, with the text), as an editor shows it.
_TOKEN = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
  | (?P<string>\"\"\"(?:[^\\"]|\\.|\"(?!\"\"))*(?:\"\"\"|\\?\Z)
      | \'\'\'(?:[^\\']|\\.|\'(?!\'\'))*(?:\'\'\'|\\?\Z)
      | \"(?:[^\\"\n]|\\.)*(?:\"|\\?(?=\n|\Z))
      | \'(?:[^\\'\n]|\\.)*(?:\'|\\?(?=\n|\Z)))
  | (?P<open>[(\[{])
  | (?P<close>[)\]}])
  | (?P<joined>\\\n)
  | (?P<newline>\n)
    """,
    re.VERBOSE | re.DOTALL,
)


class Lexeme(NamedTuple):
    """A comment, string, bracket or line end; `kind` names the group of the expression above."""

    kind: str
    start: int
    end: int


def lexemes(code: str) -> Iterator[Lexeme]:
    """The comments, strings, brackets and line ends of a text, in order."""
    for match in _TOKEN.finditer(code):
        yield Lexeme(match.lastgroup or "", match.start(), match.end())


def comments(code: str) -> Iterator[tuple[int, int]]:
    """The (start, end) of each comment, as character offsets; a `#` within a string is none."""
    return ((token.start, token.end) for token in lexemes(code) if token.kind == "comment")


def statement_end(code: str, start: int) -> int:
    """The offset behind the logical line that starts at `start`: strings, brackets and joined lines are skipped."""
    depth = 0
    for match in _TOKEN.finditer(code, start):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "newline" and depth == 0:
            return match.end()
    return len(code)
