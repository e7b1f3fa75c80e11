"""Captured names as semantic tokens: those that rules say something of that a word fits (`Rule.hint`), if asked for.

Types are those of the protocol. The modifiers are our own: `captured` for all, and what becomes of the value, `frozen`
or `stale`, where that is known.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict.findings import Location
from nonstrict.rules.registry import RULES
from nonstrict.text.source import code_points
from nonstrict.text.trees import tree_of
from nonstrict_server.positions import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Subject
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server

#: What the three requests are registered under.
METHOD = "textDocument/semanticTokens"
_MODIFIERS = ("captured", "frozen", "stale")
LEGEND = lsp.SemanticTokensLegend(
    [lsp.SemanticTokenTypes.Variable.value, lsp.SemanticTokenTypes.Property.value], [*_MODIFIERS]
)
_VARIABLE, _PROPERTY = range(2)
#: Where state lives that a function has without being passed it.
_CAPTURED = frozenset({"global", "cell", "default", "receiver"})
_IDENTIFIER = re.compile(r"[^\W\d]\w*$")


class _Name(NamedTuple):
    """A name in a document, and what it is: the type and the modifiers, as the legend numbers them."""

    where: Location
    type: int
    modifiers: int


def serve(server: Server) -> None:
    """Answer requests for tokens: see `nonstrict_server.features.switched`."""
    server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(full)
    server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)(within)


async def full(ls: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
    """The tokens of a document; null where there are none, so that editors show those of others."""
    return await _answer(ls, params.text_document.uri)


async def within(ls: Server, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
    """The tokens of a range."""
    return await _answer(ls, params.text_document.uri, (params.range.start.line, params.range.end.line))


async def _answer(ls: Server, uri: str, lines: tuple[int, int] | None = None) -> lsp.SemanticTokens | None:
    place = ls.documents.place_of(uri)
    if not ls.settings_of(place.path).tokens:
        return None
    version = ls.documents.version_of(uri)
    data = await ls.scheduler.ask(lambda: _data(ls, place, lines), lambda: ls.documents.version_of(uri) != version)
    return lsp.SemanticTokens(data) if data else None


# -- in the thread of the analysis ------------------------------------------------------------------------------------


def _data(ls: Server, place: Place, lines: tuple[int, int] | None) -> list[int]:
    """The tokens as the protocol encodes them: five numbers each, places relative to the token before."""
    source = ls.engine.source(place.path)
    if source is None:
        return []
    tokens: dict[tuple[int, int], tuple[int, int, int]] = {}
    for name in _names(ls, place, source):
        line, start, _, end = places_of(name.where, source, ls.documents.encoding)
        if lines is None or lines[0] <= line <= lines[1]:
            _, _, known = tokens.get((line, start), (0, 0, 0))
            tokens[line, start] = end - start, name.type, known | name.modifiers
    data: list[int] = []
    before = (0, 0)
    for (line, start), token in sorted(tokens.items()):
        data += (line - before[0], start - before[1] if line == before[0] else start, *token)
        before = line, start
    return data


def _names(ls: Server, place: Place, source: Source) -> Iterator[_Name]:
    """The names that findings of captured state lie on."""
    for one in ls.engine.diagnostics(place.path):
        rule = RULES.get(one.code)
        if rule is None or not rule.hint or one.subject is None or one.location.cell != place.cell:
            continue
        if one.subject.origin not in _CAPTURED:
            continue
        known = {"captured", *rule.hint.split()}
        modifiers = sum(1 << number for number, word in enumerate(_MODIFIERS) if word in known)
        for where, type_ in _parts(source, one.location, one.subject):
            yield _Name(where, type_, modifiers)


def _parts(source: Source, where: Location, subject: Subject) -> Iterator[tuple[Location, int]]:
    """What names captured state in an expression: of `CONFIG.scale[0]`, `CONFIG` and `scale`."""
    lines = _text(source, where)
    try:
        tree = tree_of("(" + "\n".join(lines) + ")", "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in _naming(tree, {subject.name, *(step.removeprefix(".") for step in subject.path)}):
        row, column = (node.end_lineno or 1) - 1, node.end_col_offset or 0
        name = _IDENTIFIER.search(lines[row][: code_points(lines[row], column - (row == 0))])
        if name:
            yield _within(where, row, name), _VARIABLE if isinstance(node, ast.Name) else _PROPERTY


def _naming(tree: ast.expr, words: set[str]) -> list[ast.Name | ast.Attribute]:
    """The names that are some words; where the state has another name in the file, the last one of the expression."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id in words)
        or (isinstance(node, ast.Attribute) and node.attr in words and id(node) not in called)
    ]
    while isinstance(tree, ast.Subscript):
        tree = tree.value
    return found or ([tree] if isinstance(tree, (ast.Name, ast.Attribute)) else [])


def _text(source: Source, where: Location) -> list[str]:
    """The lines of a range."""
    lines = [source.line_text(row, where.cell) for row in range(where.row, where.end_row + 1)]
    lines[-1] = lines[-1][: where.end_column - 1]
    lines[0] = lines[0][where.column - 1 :]
    return lines


def _within(where: Location, row: int, name: re.Match[str]) -> Location:
    """Where a name in a line of a range is."""
    before = where.column if row == 0 else 1
    line = where.row + row
    return Location(where.path, line, before + name.start(), line, before + name.end(), where.cell)
