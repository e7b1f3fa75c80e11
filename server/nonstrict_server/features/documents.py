"""Documents are opened, changed, saved and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.features.watched_files import is_configuration

if TYPE_CHECKING:
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Have documents synchronised, change by change."""
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(lsp.TEXT_DOCUMENT_DID_SAVE, lsp.SaveOptions(include_text=False))(did_save)
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(did_close)


def did_open(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    """The text of the editor counts from now on."""
    path = ls.documents.open(params.text_document)
    if not is_configuration(path):
        ls.send_text(path)
        ls.edited(path)


def did_change(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    """The user typed."""
    path = ls.documents.change(params)
    if path is not None and not is_configuration(path) and not ls.settings_of(path).on_save:
        ls.send_text(path, typing=True)
        ls.edited(path)


def did_save(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    """The text of the editor is that of the file."""
    path = ls.documents.place_of(params.text_document.uri).path
    if is_configuration(path):
        ls.change(("touched", path), lambda engine: engine.touched((), (path,)))
        return
    if ls.settings_of(path).on_save:
        ls.send_text(path)
        ls.edited(path)
    ls.change(("saved", path), lambda engine: engine.saved(path))
    for listener in ls.on_saved:
        listener(path)


def did_close(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    """The file on the disk counts again."""
    path = ls.documents.close(params.text_document.uri)
    if path is None or is_configuration(path):
        return
    ls.forget_text(path)
    ls.edited(path)
