"""Folders are added to the workspace and removed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.documents import file_of

if TYPE_CHECKING:
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Hear of folders."""
    server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(did_change_folders)


def did_change_folders(ls: Server, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """The folders of the workspace are others."""
    from nonstrict_server.features.configuration import ask_for_settings

    for folder in params.event.removed:
        path = file_of(folder.uri)
        if path:
            ls.root_uris.pop(path, None)
    for folder in params.event.added:
        path = file_of(folder.uri)
        if path:
            ls.root_uris[path] = folder.uri
    ls.set_roots(ls.root_uris)
    ask_for_settings(ls)
