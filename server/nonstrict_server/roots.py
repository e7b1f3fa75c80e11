"""The folders of a workspace, each with its own configuration, interpreter and analysis."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from nonstrict.check.live.folder import Folder
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import CONFIG_NAMES
from nonstrict_server.settings import DEFAULTS, ClientSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.findings import Diagnostic


class Roots:
    """Which folder a file belongs to. Lives in the thread of the analysis, as its folders do.

    `complain` hears of configurations that no file is to blame for.
    """

    def __init__(self, *, trusted: bool, complain: Callable[[str], None]) -> None:
        self._trusted = trusted
        self._complain = complain
        self._roots: tuple[str, ...] = ()
        self._settings: dict[str, ClientSettings] = {}
        self._folders: dict[str, Folder | None] = {}
        self._mistakes: dict[str, tuple[Diagnostic, ...]] = {}
        self._open: dict[str, tuple[str, str]] = {}

    def set_roots(self, roots: Sequence[str]) -> None:
        """The folders of the workspace are these now; open documents move to the folder that they now belong to."""
        self._roots = tuple(sorted(set(roots), key=len, reverse=True))
        for root in [root for root in self._folders if root not in self._roots]:
            del self._folders[root]
            self._mistakes.pop(root, None)
        for root in self._roots:
            self._folder(root)
        self._place_documents()

    def configure(self, settings: dict[str, ClientSettings]) -> None:
        """The settings of the client are these now; key "" is for files outside all folders."""
        before, self._settings = self._settings, dict(settings)
        for root in list(self._folders):
            if self._folders[root] is None or _overrides(before, root) != _overrides(self._settings, root):
                self._reload(root)
        self._place_documents()

    def settings_of(self, path: str) -> ClientSettings:
        """The client's settings for a file."""
        return _of(self._settings, self.root_of(path))

    def mistakes_in_model(self, path: str) -> Sequence[Diagnostic]:
        """What is wrong with a model, which is a document as those that are analysed are."""
        return () if os.path.basename(path) in CONFIG_NAMES else self.mistakes().get(path, ())

    def holds_settings(self, path: str) -> bool:
        """Whether settings depend on a file that is not a file of configuration: a model that one of those names."""
        return path in self.mistakes() or any(path in folder.settings.models for folder in self.folders())

    def reload(self, paths: Iterable[str]) -> None:
        """Configuration files changed: the folders that they may concern read them again."""
        changed = [os.path.dirname(path) for path in paths]
        for root in list(self._folders):
            below = root.rstrip(os.sep) + os.sep
            if any(
                root == one or one.startswith(below) or root.startswith(one.rstrip(os.sep) + os.sep) for one in changed
            ):
                self._reload(root)
        self._place_documents()

    def reload_all(self) -> None:
        """Make all folders anew."""
        roots = list(self._folders)
        self._folders = dict.fromkeys(roots)
        for root in roots:
            self._reload(root)

    def root_of(self, path: str) -> str:
        """The folder of the workspace that holds a file; else the nearest directory with a configuration, or its."""
        for root in self._roots:
            if path == root or path.startswith(root.rstrip(os.sep) + os.sep):
                return root
        known = self._open.get(path)
        return known[0] if known is not None else _nearest_project(os.path.dirname(path))

    def folder_of(self, path: str) -> Folder | None:
        """The folder that a file belongs to; None if it could not be read at all, or nobody knows the file."""
        root = self.root_of(path)
        if root not in self._folders and root not in self._roots and not os.path.exists(path):
            return None
        return self._folder(root)

    def folder_at(self, root: str) -> Folder | None:
        """The folder of this path."""
        return self._folders.get(root)

    def folders(self) -> list[Folder]:
        """All folders that can be analysed."""
        return [folder for folder in self._folders.values() if folder is not None]

    def mistakes(self) -> dict[str, list[Diagnostic]]:
        """What is wrong with configuration files, by their paths (NST903)."""
        found: dict[str, list[Diagnostic]] = {}
        for diagnostics in self._mistakes.values():
            for diagnostic in diagnostics:
                listed = found.setdefault(diagnostic.location.path, [])
                if diagnostic not in listed:
                    listed.append(diagnostic)
        return found

    def texts(self) -> dict[str, str]:
        """The open documents, as they were handed over last."""
        return {path: text for path, (_, text) in self._open.items()}

    def text_of(self, path: str) -> str:
        """The text of an open document, as it was handed over last; empty if it is not open."""
        return self._open.get(path, ("", ""))[1]

    def set_text(self, path: str, text: str) -> Folder | None:
        """A document was opened or changed; the folder it belongs to."""
        root = self.root_of(path)
        self._open[path] = (root, text)
        folder = self._folder(root)
        if folder is not None:
            folder.set_text(path, text)
        return folder

    def forget_text(self, path: str) -> None:
        """A document was closed."""
        root, _ = self._open.pop(path, ("", ""))
        folder = self._folders.get(root)
        if folder is None:
            return
        folder.forget_text(path)
        if root not in self._roots and not any(other == root for other, _ in self._open.values()):
            del self._folders[root]
            self._mistakes.pop(root, None)

    def _folder(self, root: str) -> Folder | None:
        if root not in self._folders:
            self._folders[root] = None
            self._reload(root)
        return self._folders[root]

    def _reload(self, root: str) -> None:
        """Read the configuration of a folder; while it is not valid what was valid before counts, or the defaults."""
        overrides = dict(_overrides(self._settings, root))
        folder = self._folders.get(root)
        try:
            if folder is None:
                self._make(root, overrides, lenient=False)
            else:
                folder.reload(overrides)
        except ConfigurationError as error:
            self._mistakes[root] = error.diagnostics
            if not error.diagnostics:
                self._complain(str(error))
            if folder is None:
                # One folder that cannot be read even so must not cost the others, nor what is told of this one.
                with suppress(ConfigurationError):
                    self._make(root, overrides, lenient=True)
        else:
            self._mistakes.pop(root, None)

    def _make(self, root: str, overrides: dict[str, object], *, lenient: bool) -> None:
        self._folders[root] = folder = Folder(root, overrides, trusted=self._trusted, lenient=lenient)
        for path, (owner, text) in self._open.items():
            if owner == root:
                folder.set_text(path, text)

    def _place_documents(self) -> None:
        """Hand each open document to the folder that it belongs to now."""
        for path, (owner, text) in list(self._open.items()):
            del self._open[path]
            root = self.root_of(path)
            self._open[path] = (root, text)
            if root != owner:
                before = self._folders.get(owner)
                if before is not None:
                    before.forget_text(path)
                folder = self._folder(root)
                if folder is not None:
                    folder.set_text(path, text)


def _of(settings: dict[str, ClientSettings], root: str) -> ClientSettings:
    return settings.get(root) or settings.get("") or DEFAULTS


def _overrides(settings: dict[str, ClientSettings], root: str) -> tuple[tuple[str, object], ...]:
    return _of(settings, root).overrides


def _nearest_project(directory: str) -> str:
    here = directory
    while True:
        if any(os.path.isfile(os.path.join(here, name)) for name in CONFIG_NAMES):
            return here
        parent = os.path.dirname(here)
        if parent == here:
            return directory
        here = parent
