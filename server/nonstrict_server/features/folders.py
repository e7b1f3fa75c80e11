"""Folders are added to the workspace and removed from it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

if TYPE_CHECKING:
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Hear of folders."""
    server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(did_change_folders)


def did_change_folders(ls: Server, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """The folders of the workspace are others."""
    from nonstrict_server.features.configuration import ask_for_settings

    for folder in params.event.removed:
        path = to_fs_path(folder.uri)
        if path:
            ls.root_uris.pop(os.path.normpath(path), None)
    for folder in params.event.added:
        path = to_fs_path(folder.uri)
        if path:
            ls.root_uris[os.path.normpath(path)] = folder.uri
    ls.set_roots(ls.root_uris)
    ask_for_settings(ls)
