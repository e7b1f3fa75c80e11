"""Where expressions stand, to the column: which of several on one line is the one that raised an error."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Where an expression stands: lines from 1, columns from 0 in UTF-8 bytes."""

    line: int
    end_line: int
    column: int
    end_column: int

    @property
    def start(self) -> tuple[int, int]:
        """Its first line and column."""
        return self.line, self.column

    @property
    def end(self) -> tuple[int, int]:
        """Its last line, and the column behind it."""
        return self.end_line, self.end_column

    def covers(self, other: Span) -> bool:
        """Whether another expression is a part of this one."""
        return self.start <= other.start and other.end <= self.end
