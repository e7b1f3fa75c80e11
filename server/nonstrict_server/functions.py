"""Which marked function a position in a document is in."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Span
from nonstrict.program.domain.effects import span_of
from nonstrict.text.source import parsed
from nonstrict_server.features.references import finding_at
from nonstrict_server.positions import point_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol import types as lsp

    from nonstrict.findings import Location
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
