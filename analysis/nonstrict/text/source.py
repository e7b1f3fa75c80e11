"""A `Source`: one file, notebook or page as the analysis reads it, and the way back to positions that users know."""

from __future__ import annotations

import enum
import os
import stat
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Location, Span
from nonstrict.text.decode import Decoded, Flaw, NotTextError, decode, given, normalised

if TYPE_CHECKING:
    import ast

MAX_BYTES = 20_000_000
"""Files larger than this are refused: they are data, and reading them would stall a run."""

_PAGE_SUFFIXES = (".md", ".markdown", ".myst", ".txt", ".rst")


class SourceKind(enum.Enum):
    """What a file is, judged by the end of its name."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    PAGE = "page"


class UnreadableSource(Exception):  # noqa: N818 - the name says what the file is
    """A file that cannot be read as text: missing, forbidden, a directory, binary, too large, no notebook."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not parse or decode; the span is in the units of `ast`, in the analysed code."""

    span: Span
    message: str


class Origin(NamedTuple):
    """Where a line of the analysed code stands in the file.

    `row` counts from 1, within the notebook cell `cell` if there is one. A character at code column `indent` or
    later stands `column - indent` characters after file column `column` (both count code points from 0).
    """

    row: int
    cell: int | None = None
    indent: int = 0
    column: int = 0


class Cell(NamedTuple):
    """A run of lines of the analysed code that parses by itself: a notebook cell, a fence, a prompt session.

    `first` counts code lines from 1; `number` is the position among all cells of a notebook, from 1.
    """

    first: int
    lines: int
    number: int | None = None


@dataclass(frozen=True)
class Source:
    """A file as read.

    `text` is the whole decoded file, line ends as they are (of a notebook: the joined code before masking).
    `code` is one Python module text, lines ended by LF; it need not parse before `repaired`.
    `origins` has one entry per line of `code`, or is None where code lines are file lines.
    `cells` is empty where the file is one piece.
    `unrepaired` is what `code` was before `repaired` cut something out of it: problems point into that.
    """

    path: str
    kind: SourceKind
    text: str
    code: str
    problems: tuple[Problem, ...] = ()
    origins: tuple[Origin, ...] | None = None
    cells: tuple[Cell, ...] = ()
    unrepaired: str | None = None

    @cached_property
    def lines(self) -> list[str]:
        """The lines of `code`, without line ends."""
        return self.code.split("\n")

    @cached_property
    def lines_as_read(self) -> list[str]:
        """The lines of the code before repair, without line ends: the columns of all spans count in them."""
        return self.lines if self.unrepaired is None else self.unrepaired.split("\n")

    @cached_property
    def file_lines(self) -> list[str]:
        """The lines of `text`, without line ends."""
        return normalised(self.text).split("\n")

    def locate(self, span: Span) -> Location:
        """Turn a span of the analysed code into rows and columns of the file, always inside the file."""
        row, column, cell = self._position(span.line, span.column)
        end_row, end_column, end_cell = self._position(span.end_line, span.end_column)
        if end_cell != cell or (end_row, end_column) < (row, column):
            end_row, end_column = row, column
        return Location(self.path, row, column, end_row, end_column, cell)

    def line_text(self, row: int, cell: int | None = None) -> str:
        """The text of a row as users see it, without its line end; empty for a row that does not exist."""
        if cell is not None:
            found = next((c for c in self.cells if c.number == cell), None)
            if found is None or not 1 <= row <= found.lines:
                return ""
            row += found.first - 1
        return self.file_lines[row - 1] if 1 <= row <= len(self.file_lines) else ""

    def _position(self, line: int, column: int) -> tuple[int, int, int | None]:
        """Row, column (both from 1, code points) and cell of a byte position of the code."""
        line = min(max(line, 1), len(self.lines_as_read))
        points = code_points(self.lines_as_read[line - 1], column)
        if self.origins is None or not self.origins:
            return line, points + 1, None
        origin = self.origins[min(line, len(self.origins)) - 1]
        in_file = max(points - origin.indent, 0) + origin.column
        return origin.row, min(in_file, len(self.line_text(origin.row, origin.cell))) + 1, origin.cell


def code_points(line: str, column: int) -> int:
    """The number of code points in the first `column` UTF-8 bytes of a line, at most the length of the line."""
    if column <= 0:
        return 0
    if line.isascii():
        return min(column, len(line))
    return len(line.encode()[:column].decode("utf-8", "ignore"))


def byte_column(line: str, points: int) -> int:
    """The UTF-8 byte offset of code point number `points` of a line, at most the length of the line."""
    points = max(points, 0)
    if line.isascii():
        return min(points, len(line))
    return len(line[:points].encode())


def source_kind(path: str) -> SourceKind:
    """What kind of source a file of this name holds; any unknown name is Python."""
    lowered = path.lower()
    if lowered.endswith(".ipynb"):
        return SourceKind.NOTEBOOK
    return SourceKind.PAGE if lowered.endswith(_PAGE_SUFFIXES) else SourceKind.PYTHON


def read_source(path: str) -> Source:
    """Read a file. Raises `UnreadableSource` with a reason for users when it is not there or is not a text."""
    return source_from_bytes(path, read_bytes(path))


def read_bytes(path: str) -> bytes:
    """The bytes of a regular file of at most `MAX_BYTES`. Raises `UnreadableSource`."""
    # Without O_NONBLOCK, opening a named pipe waits for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if os.path.isdir(path):
            raise UnreadableSource(path, "is a directory") from error
        raise UnreadableSource(path, _reason(error)) from error
    except ValueError as error:
        raise UnreadableSource(path, "not a file name") from error
    try:
        return _read_all(path, descriptor)
    except OSError as error:
        raise UnreadableSource(path, _reason(error)) from error
    finally:
        os.close(descriptor)


def source_from_bytes(path: str, data: bytes) -> Source:
    """Make a source of bytes as a file holds them. Raises `UnreadableSource` as `read_source`."""
    if len(data) > MAX_BYTES:
        raise UnreadableSource(path, too_large(len(data)))
    try:
        return _source_of(path, decode(data))
    except NotTextError as error:
        raise UnreadableSource(path, str(error)) from error


def source_from_text(path: str, text: str) -> Source:
    """Make a source of a text that an editor holds. Raises `UnreadableSource` if it is too large."""
    if len(text) > MAX_BYTES:
        raise UnreadableSource(path, too_large(len(text)))
    return _source_of(path, given(text))


def _source_of(path: str, decoded: Decoded) -> Source:
    kind = source_kind(path)
    if kind is SourceKind.NOTEBOOK:
        from nonstrict.text.notebook import notebook_source

        return notebook_source(path, decoded.text)
    if kind is SourceKind.PAGE:
        from nonstrict.text.pages import page_source

        return page_source(path, decoded.text)
    code = normalised(decoded.text)
    problems = _problems(path, decoded.text, decoded.flaws) if decoded.flaws else ()
    if decoded.flaws:
        code = code.replace("\0", " ")
    return Source(path, kind, decoded.text, code, problems)


def repaired(source: Source) -> Source:
    """The source with what does not parse cut out, line count kept, and a `Problem` for each cut.

    The `code` of the result always parses with `ast`. A broken notebook cell or fence never costs another one.
    """
    return parsed(source)[0]


def parsed(source: Source) -> tuple[Source, ast.Module]:
    """As `repaired`, with the tree of the repaired code, so that nothing is parsed twice."""
    from nonstrict.text.repair import parse, repair

    tree = parse(source.code)
    if tree is not None:
        return source, tree
    repair_result = repair(source.code, [(cell.first, cell.lines) for cell in source.cells])
    problems = tuple(
        Problem(Span(source.path, cut.line, cut.column, cut.end_line, cut.end_column), cut.message)
        for cut in repair_result.cuts
    )
    problems = source.problems + problems
    fixed = replace(source, code=repair_result.code, problems=problems, unrepaired=source.code)
    return fixed, repair_result.tree


def _read_all(path: str, descriptor: int) -> bytes:
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableSource(path, "is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableSource(path, "is not a regular file")
    if status.st_size > MAX_BYTES:
        raise UnreadableSource(path, too_large(status.st_size))
    chunks: list[bytes] = []
    while chunk := os.read(descriptor, status.st_size + 1):
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def too_large(size: int) -> str:
    """Why a file of so many bytes is refused."""
    return f"too large ({size // 1_000_000} MB, the limit is {MAX_BYTES // 1_000_000} MB); exclude it"


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, PermissionError):
        return "permission denied"
    return (error.strerror or str(error)).lower()


def _problems(path: str, text: str, flaws: tuple[Flaw, ...]) -> tuple[Problem, ...]:
    """The flaws of a decoded text, as problems at byte columns of its lines."""
    problems: list[Problem] = []
    for flaw in flaws:
        before = normalised(text[: flaw.start])
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode())
        width = len(text[flaw.start : flaw.end].encode())
        problems.append(Problem(Span(path, line, column, line, column + width), flaw.message))
    return tuple(problems)
