"""Files change on the disk, behind the back of the editor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict.confirm.runs.store import DIRECTORY
from nonstrict.settings.load import CONFIG_NAMES
from nonstrict.settings.model import DEFAULT_BASELINE
from nonstrict_server.documents import file_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict_server.server import Server

_FOLDER, _RUNS = DIRECTORY.split(os.sep)
_GLOBS = (
    "**/*.{py,pyi,ipynb,md,rst}",
    "**/{pyproject,nonstrict,.nonstrict}.toml",
    "**/.gitignore",
    f"**/{DEFAULT_BASELINE}",
    # Of what is written at once into a folder that is new, watchers may see the folder only.
    f"**/{_FOLDER}",
    f"**/{_FOLDER}/{_RUNS}",
    f"**/{_FOLDER}/{_RUNS}/*.json",
)
_CONFIGURATION = frozenset({*CONFIG_NAMES, ".gitignore"})


def register(server: Server) -> None:
    """Hear of files; which ones is said when the client is ready."""
    server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(did_change_files)


def is_configuration(path: str) -> bool:
    """Whether a file may hold settings, or say which files are checked."""
    return os.path.basename(path) in _CONFIGURATION


def registrations(ls: Server) -> Sequence[lsp.Registration]:
    """What to ask the client to watch."""
    if not ls.abilities.registers_watchers:
        return ()
    watchers = [lsp.FileSystemWatcher(glob) for glob in _GLOBS]
    options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
    return (lsp.Registration("nonstrict-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options),)


def did_change_files(ls: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Files were created, changed or deleted."""
    paths = [path for change in params.changes if (path := file_of(change.uri))]
    configuration = tuple(dict.fromkeys(path for path in paths if is_configuration(path)))
    files = tuple(dict.fromkeys(path for path in paths if path not in set(configuration)))

    # Two notifications may be about different files: neither replaces the other.
    ls.change(("touched", files, configuration), lambda engine: engine.touched(files, configuration))
    ls.changed(None)
