"""Notebooks are opened, changed, saved and closed; to the analysis they are the JSON of their file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Have notebooks synchronised, cell by cell."""
    server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)(did_open)
    server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)(did_save)
    server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)(did_close)


def did_open(ls: Server, params: lsp.DidOpenNotebookDocumentParams) -> None:
    """The cells of the editor count from now on."""
    path = ls.documents.open_notebook(params)
    ls.send_text(path)
    ls.edited(path)


def did_change(ls: Server, params: lsp.DidChangeNotebookDocumentParams) -> None:
    """Cells were changed, moved, added or removed."""
    path = ls.documents.change_notebook(params)
    if path is not None and not ls.settings_of(path).on_save:
        ls.send_text(path, typing=True)
        ls.edited(path)


def did_save(ls: Server, params: lsp.DidSaveNotebookDocumentParams) -> None:
    """The cells of the editor are those of the file."""
    path = ls.documents.place_of(params.notebook_document.uri).path
    if ls.settings_of(path).on_save:
        ls.send_text(path)
        ls.edited(path)
    for listener in ls.on_saved:
        listener(path)


def did_close(ls: Server, params: lsp.DidCloseNotebookDocumentParams) -> None:
    """The file on the disk counts again."""
    path = ls.documents.close_notebook(params.notebook_document.uri)
    if path is None:
        return
    ls.forget_text(path)
    ls.edited(path)
