"""What is under the pointer: of a marker or `torch.compile`, what is known of its function; of a code, its rule."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict.program.domain.effects import span_of
from nonstrict.rules.registry import RULES
from nonstrict.text.source import parsed
from nonstrict_server.positions import places_of, point_of, range_of
from nonstrict_server.region_page import page
from nonstrict_server.regions import Reach, views
from nonstrict_server.summaries import purity

if TYPE_CHECKING:
    from nonstrict.findings import Location, Span
    from nonstrict.rules.base import Rule
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.positions import Point
    from nonstrict_server.regions import View
    from nonstrict_server.server import Server

_COMMENT = re.compile(r"#.*(?:nonstrict:|noqa)", re.IGNORECASE)
_DEFINED = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+")
#: One call may compile many functions.
_MAX_PAGES = 5
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


class _Page(NamedTuple):
    """Markdown about a range."""

    text: str
    where: lsp.Range


def register(server: Server) -> None:
    """Answer hovers."""
    server.feature(lsp.TEXT_DOCUMENT_HOVER)(hover)


async def hover(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    """The page about a position, if there is one."""
    place = ls.documents.place_of(params.text_document.uri)
    page = await ls.scheduler.ask(lambda: _page(ls, place, params.position))
    if page is None:
        return None
    kind = lsp.MarkupKind.Markdown if ls.abilities.markdown else lsp.MarkupKind.PlainText
    return lsp.Hover(lsp.MarkupContent(kind, page.text), page.where)


def rule_page(rule: Rule) -> str:
    """The documentation of a rule, in Markdown."""
    heading, _, text = rule.documentation.strip().partition("\n")
    return f"{heading}\n\nDefault severity: {rule.severity.label}. [Page]({rule.url})\n\n{text.strip()}\n"


def _page(ls: Server, place: Place, position: lsp.Position) -> _Page | None:
    """In the thread of the analysis."""
    source = ls.engine.source(place.path)
    if source is None:
        return None
    encoding = ls.documents.encoding
    point = point_of(position, source, place.cell, encoding)
    line = source.line_text(point.row, place.cell)
    told = _rule_at(line, point.column - 1)
    if told is not None:
        from nonstrict.findings import Location

        rule, start, end = told
        where = Location(place.path, point.row, start + 1, point.row, end + 1, place.cell)
        return _Page(rule_page(rule), range_of(places_of(where, source, encoding)))
    regions = views(ls.engine, place.path)
    told = [(view, where) for view in regions if (where := _words_of(view, source, place, point))]
    if told:
        pages = dict.fromkeys(page(ls, view) for view, _ in told[:_MAX_PAGES])
        return _Page("\n\n---\n\n".join(pages), range_of(places_of(told[0][1], source, encoding)))
    known = {view.region.function for view in regions}
    for mark in ls.engine.marks(place.path):
        if mark.kind == "compiled" and mark.function in known:
            continue
        for where in (mark.location, _name_of(mark.definition, line)):
            if where is not None and _holds(where, place, point):
                findings = Reach(ls.engine).of(place.path, mark.function)
                return _Page(purity(mark, findings), range_of(places_of(where, source, encoding)))
    return None


def _rule_at(line: str, column: int) -> tuple[Rule, int, int] | None:
    """The rule that a suppression comment names at a column, and the word."""
    comment = _COMMENT.search(line)
    if comment is None or column < comment.start():
        return None
    for word in _WORD.finditer(line, comment.start()):
        if word.start() <= column <= word.end():
            name = word[0]
            rule = next((one for one in RULES.values() if name.upper() == one.code or name.lower() == one.name), None)
            return (rule, word.start(), word.end()) if rule is not None else None
    return None


def _words_of(view: View, source: Source, place: Place, point: Point) -> Location | None:
    """The words at a point that a region is compiled by, or the name of its function."""
    region = view.region
    for span in (region.span, region.site):
        if span.path == place.path and _holds(source.locate(span), place, point):
            words = source.locate(_compiler(source, span))
            if _holds(words, place, point):
                return words
    if region.defined is None or region.defined.path != place.path:
        return None
    definition = source.locate(region.defined)
    line = definition._replace(end_row=definition.row)
    name = _name_of(line, source.line_text(line.row, line.cell)) if line.row == point.row else None
    return name if name is not None and _holds(name, place, point) else None


def _compiler(source: Source, span: Span) -> Span:
    """What is called by the expression at a span: of `torch.compile(fullgraph=True)(f)`, `torch.compile`."""
    for node in ast.walk(parsed(source)[1]):
        if isinstance(node, ast.Call) and span_of(source.path, 0, node) == span:
            called: ast.expr = node
            while isinstance(called, ast.Call):
                called = called.func
            return span_of(source.path, 0, called)
    return span


def _name_of(definition: Location | None, line: str) -> Location | None:
    """The `def` and the name of a function that is defined on a line."""
    found = _DEFINED.match(line)
    return definition._replace(end_column=found.end() + 1) if definition is not None and found else None


def _holds(where: Location, place: Place, point: Point) -> bool:
    if where.cell != place.cell:
        return False
    return (where.row, where.column) <= point <= (where.end_row, where.end_column)
