"""What is under the pointer: of a marker, what is known of its function; of a code in a suppression, its rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict.rules.registry import RULES
from nonstrict_server.positions import places_of, point_of, range_of
from nonstrict_server.summaries import purity

if TYPE_CHECKING:
    from nonstrict.findings import Location
    from nonstrict.rules.base import Rule
    from nonstrict_server.documents import Place
    from nonstrict_server.positions import Point
    from nonstrict_server.server import Server

_COMMENT = re.compile(r"#.*(?:nonstrict:|noqa)", re.IGNORECASE)
_DEFINED = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+")
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
    for mark in ls.engine.marks(place.path):
        for where in (mark.location, _name_of(mark.definition, line)):
            if where is not None and _holds(where, place, point):
                findings = ls.engine.findings_of(place.path, mark.function)
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


def _name_of(definition: Location | None, line: str) -> Location | None:
    """The `def` and the name of a function that is defined on a line."""
    found = _DEFINED.match(line)
    return definition._replace(end_column=found.end() + 1) if definition is not None and found else None


def _holds(where: Location, place: Place, point: Point) -> bool:
    if where.cell != place.cell:
        return False
    return (where.row, where.column) <= point <= (where.end_row, where.end_column)
