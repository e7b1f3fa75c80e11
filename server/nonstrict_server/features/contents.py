"""What torch makes of a function, as documents that no file holds: the FX graph and the generated code.

Their addresses are `nonstrict:/graph/NAME?DOCUMENT#FUNCTION`, the address of the document quoted. Clients that know
`workspace/textDocumentContent` (LSP 3.18) open them; the commands return the same texts to the others.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types as lsp

from nonstrict_server.protocol import RequestFailedError

if TYPE_CHECKING:
    from nonstrict_server.server import Server

SCHEME = "nonstrict"
KINDS = ("graph", "code")


def register(server: Server) -> None:
    """Give the text of virtual documents."""
    server.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT)(content)


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
    """Have the client show a virtual document, if it can."""
    if ls.abilities.opens_contents and ls.abilities.shows_documents:
        ls.window_show_document(lsp.ShowDocumentParams(uri=address_of(kind, uri, function)))


async def content(ls: Server, params: lsp.TextDocumentContentParams) -> lsp.TextDocumentContentResult:
    """The text of a virtual document, made anew from the text of its document as it is.

    Raises:
        RequestFailedError: the address is none of ours, experiments are not allowed, or nothing can be shown.
    """
    parts = urlsplit(params.uri)
    kind = parts.path.strip("/").partition("/")[0]
    if parts.scheme != SCHEME or kind not in KINDS or not parts.query:
        raise RequestFailedError(f"there is no document {params.uri}")
    path = ls.documents.place_of(unquote(parts.query)).path
    return lsp.TextDocumentContentResult(text=await ls.confirmers.show(path, unquote(parts.fragment), kind))
