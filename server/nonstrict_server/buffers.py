"""The text of an open document, changed range by range as the client types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.positions import points_of

if TYPE_CHECKING:
    from collections.abc import Iterable

# The line ends of the protocol, and no others: `str.splitlines` would also divide at form feeds.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Buffer:
    """A text as its lines with their ends, so that a change costs what it changes."""

    __slots__ = ("_encoding", "_lines", "_text", "version")

    def __init__(self, text: str, version: int, encoding: str) -> None:
        self._lines = _LINE.findall(text)
        self._text: str | None = text
        self._encoding = encoding
        self.version = version

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    def apply(self, changes: Iterable[lsp.TextDocumentContentChangeEvent], version: int) -> None:
        """Apply the changes of one notification, in order."""
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                self._replace(change.range, change.text)
            else:
                self._lines = _LINE.findall(change.text)
                self._text = change.text
        self.version = version

    def _replace(self, where: lsp.Range, text: str) -> None:
        lines = self._lines
        first, before = self._at(where.start)
        last, behind = self._at(where.end)
        first_text = lines[first] if first < len(lines) else ""
        last_text = lines[last] if last < len(lines) else ""
        middle = first_text[:before] + text + last_text[behind:]
        # A carriage return and a line feed that come to stand beside each other are one line end.
        if first > 0 and lines[first - 1].endswith("\r"):
            first -= 1
            middle = lines[first] + middle
        lines[first : last + 1] = _LINE.findall(middle)
        self._text = None

    def _at(self, position: lsp.Position) -> tuple[int, int]:
        """The line and the offset in it that a position means, inside the text."""
        if position.line >= len(self._lines):
            if not self._lines:
                return 0, 0
            line = self._lines[-1]
            if line.endswith(("\r", "\n")):
                return len(self._lines), 0
            return len(self._lines) - 1, len(line)
        line = self._lines[position.line]
        return position.line, points_of(line.rstrip("\r\n"), position.character, self._encoding)
