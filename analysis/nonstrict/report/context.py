"""What output formats may ask about a run beside its diagnostics."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Applicability, Location
from nonstrict.report.style import one_line, shown_position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nonstrict.coverage import Counts
    from nonstrict.findings import Diagnostic
    from nonstrict.report.compiled import RegionReport
    from nonstrict.report.regions import Shown
    from nonstrict.rules.base import Rule
    from nonstrict.text.notebook_rows import FileRow
    from nonstrict.text.source import Source

    #: An output format.
    Renderer = Callable[[Sequence[Diagnostic], "Context"], str]


class Lines:
    """The lines of checked files, read again where the run did not keep them."""

    def __init__(self, read: Mapping[str, Source]) -> None:
        """Start from the sources that the run kept."""
        self._sources: dict[str, Source | None] = dict(read)
        self._cells: dict[str, list[list[FileRow]]] = {}

    def text(self, path: str) -> str | None:
        """The whole text of a file as it was checked; None if it cannot be told."""
        source = self._source(path)
        return source.text if source is not None else None

    def line(self, path: str, row: int, cell: int | None = None) -> str | None:
        """The text of a row (from 1, within its cell); None if the file or the row is gone."""
        source = self._source(path)
        if source is None or row < 1:
            return None
        if cell is None and row > len(source.file_lines):
            return None
        return source.line_text(row, cell)

    def file_place(self, where: Location) -> Location | None:
        """A place of the file itself, for formats that know no cells; None if it cannot be told.

        A row of a cell is none of the file, whose lines are those of its JSON: what lies in a cell is where its first
        line stands there.
        """
        if where.cell is None:
            return where
        if where.path not in self._cells:
            self._cells[where.path] = _cells(where.path)
        rows = dict(enumerate(self._cells[where.path], 1)).get(where.cell, [])
        if not 1 <= where.row <= len(rows):
            return None
        row, column, end = rows[where.row - 1]
        return Location(where.path, row, column, row, end)

    def _source(self, path: str) -> Source | None:
        if path not in self._sources:
            self._sources[path] = _source(path)
        return self._sources[path]


def _cells(path: str) -> list[list[FileRow]]:
    """The places of the lines of a notebook's cells; none if it is not on the disk."""
    from nonstrict.text.notebook_rows import file_rows
    from nonstrict.text.source import UnreadableSource, read_bytes

    try:
        return file_rows(read_bytes(path).decode("utf-8-sig", "replace"))
    except (UnreadableSource, ValueError, IndexError):
        return []


def _source(path: str) -> Source | None:
    from nonstrict.text.source import read_source

    try:
        return read_source(path)
    except Exception:  # noqa: BLE001 - told where the file is read as code; findings are shown without its lines
        return None


class Fixing(NamedTuple):
    """What a run does with fixes: `--fix` makes those of at least the applicability `least`.

    With `hint`, people are told of those that `--unsafe-fixes` would add. `fixed` are the findings that were fixed,
    and are to be `listed` or not.
    """

    least: Applicability = Applicability.SAFE
    hint: bool = True
    fixed: tuple[Diagnostic, ...] = ()
    listed: bool = False


class Context(NamedTuple):
    """A run: how many `files` were checked, and sentences about what could not be (`failures`).

    `unread` are those of the sentences that say of a path why it could not be read: (path, reason).

    Paths are shown from `directory` (absolute, or "" for the working directory), in formats that services read from
    `repository` (absolute, or "" where there is none); `counts` asks formats made for people for a closing line with
    counts. `known` is the number of findings that the baseline holds, `notes` that of notes left out, `looked` how many
    regions and marked functions were looked at, None where nobody asks, `earlier` the number of findings that were
    there before the change that a run is about. `torches` are the versions that the findings are for, None among them
    where none was found. `regions` are the compiled regions in detail, None where nobody asked for them, and `measured`
    is what experiments saw of them.
    """

    lines: Lines
    files: int = 0
    failures: tuple[str, ...] = ()
    color: bool = False
    counts: bool = True
    directory: str = ""
    fixing: Fixing = Fixing()
    known: int = 0
    notes: int = 0
    looked: Counts | None = None
    unread: tuple[tuple[str, str], ...] = ()
    torches: tuple[str | None, ...] = ()
    earlier: int = 0
    repository: str = ""
    regions: Shown | None = None
    measured: tuple[RegionReport, ...] = ()

    def known_place(self, where: Location) -> Location | None:
        """Where something is in its file, for formats that know no cells of notebooks; None if nobody can tell."""
        return self.lines.file_place(where)

    def place(self, where: Location) -> Location:
        """The same, with the beginning of the file for what nobody can tell."""
        return self.known_place(where) or Location(where.path, 1, 1, 1, 1)

    def rule(self, code: str) -> Rule | None:
        """The catalogue's entry for a code."""
        from nonstrict.rules.registry import RULES

        return RULES.get(code)

    def url(self, code: str) -> str | None:
        """Address of the page of a rule."""
        rule = self.rule(code)
        return rule.url if rule is not None else None

    def absolute(self, path: str) -> str:
        """The absolute path of a file."""
        return os.path.normpath(os.path.join(self.directory or os.getcwd(), path))

    def relative(self, path: str) -> str:
        """The path from the working directory, with `/`; absolute for a file elsewhere."""
        absolute = self.absolute(path)
        start = (self.directory or os.getcwd()).rstrip(os.sep) + os.sep
        return (absolute.removeprefix(start)).replace(os.sep, "/")

    def in_repository(self, path: str) -> str:
        """The path as services that show findings know it: from the top of the repository, else as `relative`."""
        absolute = self.absolute(path)
        below = absolute.removeprefix(self.repository.rstrip(os.sep) + os.sep) if self.repository else absolute
        return below.replace(os.sep, "/") if below != absolute else self.relative(path)

    def evidence(self, diagnostic: Diagnostic) -> Iterator[str]:
        """What leads to a finding and shows it, a line for each place, for services that show one place."""
        for related in diagnostic.related:
            where = related.location
            path = self.in_repository(where.path)
            yield f"{shown_position(path, where.row, where.column, where.cell)}: {one_line(related.message)}"

    def elsewhere(self, diagnostic: Diagnostic) -> str:
        """The evidence of other files in one line: who looks at the finding does not see it; "" if there is none."""
        others = tuple(one for one in diagnostic.related if one.location.path != diagnostic.location.path)
        return "; ".join(self.evidence(diagnostic._replace(related=others)))


def renderer(name: str) -> Renderer:
    """The output format of a name in `nonstrict.settings.model.FORMATS`; only its own module is imported."""
    from importlib import import_module

    render: Renderer = import_module(f"nonstrict.report.{name.replace('-', '_')}").render
    return render
