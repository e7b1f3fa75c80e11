"""What the analysis says: spans in the analysed code, findings of rules, and the diagnostics that users see.

Named tuples, because every run imports this module and making a dataclass takes milliseconds.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class Severity(enum.IntEnum):
    """How bad a finding is; the order is the order of `--fail-on`."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The lower-case word shown to users: `note`, `warning` or `error`."""
        return self.name.lower()

    def raised(self) -> Severity:
        """One step worse, at most `ERROR`."""
        return Severity(min(self + 1, Severity.ERROR))

    def lowered(self) -> Severity:
        """One step milder, at least `NOTE`."""
        return Severity(max(self - 1, Severity.NOTE))


class Span(NamedTuple):
    """A range in the *analysed code* of a file, in the units of `ast`.

    Lines count from 1, columns are UTF-8 byte offsets from 0, the end is exclusive. For notebooks the
    lines are those of the cells joined into one module; `Source.locate` turns a span into a `Location`.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """Another place that explains a finding: a link of the call chain, or a writer of a captured name."""

    span: Span
    message: str


class Finding(NamedTuple):
    """What a rule found, before suppressions and positions for users.

    `function` is the qualified name of the marked function, `marker` the kind of its marker
    (`nonstrict`, `in-graph`, ...); both are empty for findings of the tool itself (NST9xx).
    `related` holds the call chain from the marker to the expression, then the evidence; `links` is the length of the
    chain, the marker included.
    """

    code: str
    severity: Severity
    span: Span
    message: str
    help: str = ""
    function: str = ""
    marker: str = ""
    related: tuple[Related, ...] = ()
    links: int = 0


class Location(NamedTuple):
    """A range as users count: rows and columns from 1, columns in code points, the end exclusive.

    In a notebook `cell` is the position of the cell among all cells, from 1, and rows count within the cell.
    """

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    cell: int | None = None


class RelatedLocation(NamedTuple):
    """`Related`, located for users."""

    location: Location
    message: str


class Diagnostic(NamedTuple):
    """A finding as users see it, in every output format and in editors."""

    code: str
    name: str
    severity: Severity
    location: Location
    message: str
    help: str = ""
    function: str = ""
    marker: str = ""
    related: tuple[RelatedLocation, ...] = ()
    links: int = 0
