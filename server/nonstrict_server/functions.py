"""Which functions there are in a document: around a position, and where each begins and ends."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.outline import Outline
from nonstrict.findings import Location, Span
from nonstrict.program.domain.effects import span_of
from nonstrict.text.source import byte_column, code_points, parsed
from nonstrict_server.features.references import finding_at
from nonstrict_server.positions import point_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from lsprotocol import types as lsp

    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server


def function_at(ls: Server, place: Place, position: lsp.Position) -> str:
    """The innermost marked function whose text is around a position, else that of the finding there; else empty.

    In the thread of the analysis.
    """
    source = ls.engine.source(place.path)
    if source is None:
        return ""
    point = point_of(position, source, place.cell, ls.documents.encoding)
    marked: dict[tuple[int, int | None], str] = {}
    for mark in ls.engine.marks(place.path):
        where = mark.definition or mark.location
        marked[where.row, where.cell] = mark.function
    for region in ls.engine.regions(place.path):
        if region.defined is not None and region.defined.path == place.path:
            where = source.locate(region.defined)
            marked.setdefault((where.row, where.cell), region.function)
    found = ""
    for first, defined, last in _functions(source):
        name = marked.get((_row(source, defined), place.cell))
        if name and _row(source, first) <= point.row <= _row(source, last):
            found = name
    if not found:
        finding = finding_at(ls, place, position)
        found = finding.function if finding is not None else ""
    return found


def enclosing(source: Source, at: Location) -> tuple[str, Location] | None:
    """The name of the innermost function or class around a place, and where it is defined; None outside all."""
    around: tuple[str, ast.AST] | None = None
    pending: list[tuple[str, ast.AST]] = [("", parsed(source)[1])]
    while pending:
        name, node = pending.pop()
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if _holds(_location(source, inner), at):
                    around = f"{name}.{inner.name}".lstrip("."), inner
                    pending = [around]
                    break
            elif isinstance(inner, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                pending.append((name, inner))
    return (around[0], _location(source, around[1])) if around is not None else None


def _location(source: Source, node: ast.AST) -> Location:
    return source.locate(span_of(source.path, 0, node))


def _holds(outer: Location, inner: Location) -> bool:
    return outer.cell == inner.cell and outer.row <= inner.row <= inner.end_row <= outer.end_row


def _functions(source: Source) -> Iterator[tuple[int, int, int]]:
    """The lines of all functions: of their first decorator, of their `def`, and the last one; outer ones first."""
    for node in ast.walk(parsed(source)[1]):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield first, node.lineno, node.end_lineno or node.lineno


def _row(source: Source, line: int) -> int:
    return source.locate(Span(source.path, line, 0, line, 0)).row


class Definition(NamedTuple):
    """Where a function is, with its decorators, and where its name stands."""

    whole: Location
    name: Location
    is_method: bool = False


#: The row, the column and the cell in which something begins.
Start = tuple[int, int, "int | None"]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NAME = re.compile(r"(?:async\s+)?def\s+(\w+)")


def definitions(source: Source, starts: Collection[Start]) -> dict[Start, Definition]:
    """The functions that begin at some places, without their decorators: only what is around these is parsed."""
    found: dict[Start, Definition] = {}
    for node, offset, is_method in _around(Outline(source.code), source, starts) if starts else ():
        start = start_of(source.locate(span_of(source.path, offset, node)))
        if start in starts:
            found[start] = _defined(source, node, offset, is_method)
            if len(found) == len(starts):
                break
    return found


def start_of(where: Location) -> Start:
    """Where a range begins."""
    return where.row, where.column, where.cell


def _around(outline: Outline, source: Source, starts: Collection[Start]) -> Iterator[tuple[_Function, int, bool]]:
    """The functions of all definitions that hold some places, then those outside definitions."""
    for chunk in outline.chunks:
        first, last = (source.locate(Span(source.path, line, 0, line, 0)) for line in (chunk.first, chunk.last))
        # Comments behind a definition count as its own, also those of the next cell.
        bottom = last.row if last.cell == first.cell else sys.maxsize
        if any(first.row <= row <= bottom and first.cell == cell for row, _, cell in starts):
            node = outline.node(chunk)
            if node is not None:
                yield from ((one, chunk.offset, is_method) for one, is_method in _within([node]))
    yield from ((one, 0, is_method) for one, is_method in _within(outline.shell.body))


def _within(body: Iterable[ast.AST]) -> Iterator[tuple[_Function, bool]]:
    """The functions in some statements, and whether each is one of a class."""
    pending = [(node, False) for node in body]
    while pending:
        node, in_class = pending.pop()
        if isinstance(node, _Function):
            yield node, in_class
        if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            is_class = isinstance(node, ast.ClassDef)
            inner = in_class and not isinstance(node, _Function)
            pending += ((child, is_class or inner) for child in ast.iter_child_nodes(node))


def _defined(source: Source, node: _Function, offset: int, is_method: bool) -> Definition:
    """Where a function is whose tree counts lines from elsewhere."""
    span = span_of(source.path, offset, node)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) + offset
    text = source.lines_as_read[span.line - 1]
    name = _NAME.match(text, code_points(text, span.column))
    begin, end = (byte_column(text, at) for at in name.span(1)) if name else (span.column, span.column)
    return Definition(
        source.locate(span._replace(line=first)),
        source.locate(Span(source.path, span.line, begin, span.line, end)),
        is_method,
    )
