"""Documents that no file holds: the FX graph and the generated code of a function, and the pages of rules.

Their addresses are `nonstrict:/graph/NAME?DOCUMENT#FUNCTION`, the address of the document quoted, and
`nonstrict:/rule/CODE.md`. Clients that know `workspace/textDocumentContent` (LSP 3.18) open them; the commands return
the same texts to the others. Where the lines of a graph came from is told by the request `nonstrict/origins`.
"""

from __future__ import annotations

import posixpath
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from lsprotocol import types as lsp

from nonstrict.findings import Span
from nonstrict.rules.registry import RULES
from nonstrict_server.features.hover import rule_page
from nonstrict_server.parameters import address_of as address_in
from nonstrict_server.protocol import InvalidParamsError

if TYPE_CHECKING:
    from nonstrict.check.showing import Showing
    from nonstrict_server.server import Server

SCHEME = "nonstrict"
KINDS = ("graph", "code")
RULE = "rule"
ORIGINS = "nonstrict/origins"
#: So many graphs are remembered, for clients that ask again.
_KEPT = 16


class Target(NamedTuple):
    """What is shown of which function of which file."""

    kind: str
    path: str
    function: str


def register(server: Server) -> None:
    """Give the text of virtual documents."""
    server.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT)(content)
    server.feature(ORIGINS)(origins)


def registrations(ls: Server) -> list[lsp.Registration]:
    """What a client is asked to open through us."""
    if not ls.abilities.opens_contents:
        return []
    options = lsp.TextDocumentContentRegistrationOptions(schemes=[SCHEME])
    return [lsp.Registration("nonstrict-contents", lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT, options)]


def address_of(kind: str, uri: str, function: str) -> str:
    """The address under which the graph or the code of a function of a document is opened."""
    stem = posixpath.splitext(posixpath.basename(unquote(urlsplit(uri).path)))[0]
    name = quote(f"{stem}.{function}.{kind}.py")
    return f"{SCHEME}:/{kind}/{name}?{quote(uri, safe='')}#{quote(function)}"


def open_in_client(ls: Server, kind: str, uri: str, function: str) -> None:
    """Have the client show a virtual document as it is now, if it can."""
    if ls.abilities.opens_contents and ls.abilities.shows_documents:
        address = address_of(kind, uri, function)
        ls.workspace_text_document_content_refresh(lsp.TextDocumentContentRefreshParams(address))
        ls.window_show_document(lsp.ShowDocumentParams(uri=address))


async def made(ls: Server, kind: str, path: str, function: str) -> Showing:
    """What torch makes of a function, made anew from the text of its document as it is.

    Raises:
        RequestFailedError: experiments are not allowed, or nothing can be shown.
    """
    text = _digest(ls.documents.text_of(path))
    showing = await ls.confirmers.show(path, function, kind)
    target = Target(kind, path, function)
    ls.shown.pop(target, None)
    ls.shown[target] = (text, showing)
    while len(ls.shown) > _KEPT:
        del ls.shown[next(iter(ls.shown))]
    return showing


async def content(ls: Server, params: lsp.TextDocumentContentParams) -> lsp.TextDocumentContentResult:
    """The text of a virtual document; what was just made of the same text is not made again.

    Raises:
        InvalidParamsError: the address is none of ours.
        RequestFailedError: experiments are not allowed, or nothing can be shown.
    """
    rule = _rule(params.uri)
    if rule:
        return lsp.TextDocumentContentResult(text=rule)
    target = _target(ls, params.uri)
    text, showing = ls.shown.get(target, ("", None))
    if showing is None or text != _digest(ls.documents.text_of(target.path)):
        showing = await made(ls, *target)
    return lsp.TextDocumentContentResult(text=showing.text)


async def origins(ls: Server, params: Any) -> list[dict[str, Any]] | None:
    """Where the lines of a virtual document, whose `uri` is given, came from.

    Each entry has a `line` of it and the `uri` and `row` of a document, both from 0; null if nobody has seen it yet.

    Raises:
        InvalidParamsError: the address is none of ours.
    """
    shown = ls.shown.get(_target(ls, address_in(params)))
    return await ls.scheduler.ask(lambda: _origins(ls, shown[1])) if shown is not None else None


def _origins(ls: Server, showing: Showing) -> list[dict[str, Any]]:
    """In the thread of the analysis."""
    found: list[dict[str, Any]] = []
    for line, path, row in showing.origins:
        source = ls.engine.source(path)
        where = source.locate(Span(path, row, 0, row, 0)) if source is not None else None
        uri = ls.documents.uri_of(path, where.cell if where is not None else None)
        found.append({"line": line, "uri": uri, "row": (where.row if where is not None else row) - 1})
    return found


def _rule(uri: str) -> str:
    """The page of the rule that an address names, empty if it names none."""
    parts = _parts(uri)
    kind, _, name = parts.path.strip("/").partition("/")
    rule = RULES.get(name.removesuffix(".md")) if parts.scheme == SCHEME and kind == RULE else None
    return rule_page(rule) if rule is not None else ""


def _target(ls: Server, uri: str) -> Target:
    """What an address means.

    Raises:
        InvalidParamsError: it is none of ours.
    """
    parts = _parts(uri)
    kind = parts.path.strip("/").partition("/")[0]
    if parts.scheme != SCHEME or kind not in KINDS or not parts.query:
        raise InvalidParamsError(f"there is no document {uri[:200]}")
    return Target(kind, ls.documents.place_of(unquote(parts.query)).path, unquote(parts.fragment))


def _digest(text: str | None) -> str:
    """Stands for a text, which may be large and need not be remembered."""
    return "" if text is None else blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _parts(uri: str) -> SplitResult:
    try:
        return urlsplit(uri)
    except ValueError:
        raise InvalidParamsError(f"`{uri[:200]}` is not an address") from None
