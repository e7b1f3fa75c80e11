"""The rules by code and name where a suppression lists them; nothing elsewhere, which is the business of others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict.findings import Span
from nonstrict.rules.registry import RULES
from nonstrict.text.directives import SUPPRESSIONS
from nonstrict.text.lexer import comments
from nonstrict_server.features.hover import rule_page
from nonstrict_server.positions import point_of, units_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.rules.base import Rule
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server

#: A list that is still open where a line is cut off, with what is written of the last word.
_LIST = re.compile(
    rf"#\s*nonstrict:\s*(?:{'|'.join(SUPPRESSIONS)})\s*\[(?P<before>[^\]]*?)(?P<word>[A-Za-z0-9-]*)$", re.IGNORECASE
)
_REST = re.compile(r"[A-Za-z0-9-]*")
_WORDS = re.compile(r"[A-Za-z0-9-]+")


class _Gap(NamedTuple):
    """A word that is being written: its range, and the words of the list that stand there besides."""

    where: lsp.Range
    others: frozenset[str]


def register(server: Server) -> None:
    """Offer rules as soon as a list is begun or continued."""
    options = lsp.CompletionOptions(trigger_characters=["[", ","], resolve_provider=True)
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, options)(completion)
    server.feature(lsp.COMPLETION_ITEM_RESOLVE)(resolve)


async def completion(ls: Server, params: lsp.CompletionParams) -> lsp.CompletionList | None:
    """The codes, then the names, of all rules that the list does not hold yet."""
    uri = params.text_document.uri
    place = ls.documents.place_of(uri)
    if not ls.settings_of(place.path).enable or not ls.is_analysed(place.path):
        return None
    version = ls.documents.version_of(uri)
    gap = await ls.scheduler.ask(
        lambda: _gap(ls, place, params.position), lambda: ls.documents.version_of(uri) != version
    )
    return lsp.CompletionList(is_incomplete=False, items=list(_items(gap))) if gap is not None else None


def resolve(ls: Server, item: lsp.CompletionItem) -> lsp.CompletionItem:
    """Fill in the page of the rule."""
    rule = next((one for one in RULES.values() if item.label in (one.code, one.name)), None)
    if rule is not None:
        kind = lsp.MarkupKind.Markdown if ls.abilities.markdown else lsp.MarkupKind.PlainText
        item.documentation = lsp.MarkupContent(kind, rule_page(rule))
    return item


def _gap(ls: Server, place: Place, position: lsp.Position) -> _Gap | None:
    """In the thread of the analysis: the word at a position in a list of rules; None anywhere else."""
    source = ls.engine.source(place.path)
    if source is None:
        return None
    point = point_of(position, source, place.cell, ls.documents.encoding)
    line = source.line_text(point.row, place.cell)
    found = _LIST.search(line[: point.column - 1])
    if found is None or not _is_comment(source, place, point.row, found.start()):
        return None
    rest = _REST.match(line, point.column - 1)
    end = rest.end() if rest is not None else point.column - 1
    behind = line[end:].partition("]")[0] if "]" in line[end:] else ""
    others = frozenset(word.lower() for word in _WORDS.findall(f"{found['before']} {behind}"))
    start, stop = (units_of(line, column, ls.documents.encoding) for column in (found.start("word"), end))
    return _Gap(lsp.Range(lsp.Position(position.line, start), lsp.Position(position.line, stop)), others)


def _is_comment(source: Source, place: Place, row: int, column: int) -> bool:
    """Whether what looks like a part of a comment is one, and no part of a text."""
    code = "\n".join(source.lines_as_read)
    for start, end in comments(code):
        if "nonstrict" not in code[start:end].lower():
            continue
        line, before = code.count("\n", 0, start) + 1, code[code.rfind("\n", 0, start) + 1 : start]
        where = source.locate(Span(source.path, line, len(before.encode("utf-8", "surrogatepass")), line, 0))
        if (where.row, where.cell) == (row, place.cell) and where.column <= column + 1:
            return True
    return False


def _items(gap: _Gap) -> Iterator[lsp.CompletionItem]:
    for rule in RULES.values():
        if not {rule.code.lower(), rule.name.lower()} & gap.others:
            yield _item(gap, rule, rule.code, rule.name)
            yield _item(gap, rule, rule.name, rule.code)


def _item(gap: _Gap, rule: Rule, label: str, detail: str) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=label,
        kind=lsp.CompletionItemKind.EnumMember,
        detail=detail,
        sort_text=f"{label == rule.name:d}{rule.code}",
        text_edit=lsp.TextEdit(gap.where, label),
    )
