"""The Python files of a project as text: which of them mention a name, and where their imports are looked for.

A project may be large, and only few of its files are of interest: a file is read once, and parsed only when asked for.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.import_names import imported_as
from nonstrict.confirm.slices import statements_of
from nonstrict.facts.words import Words
from nonstrict.program.linking.disk import Disk
from nonstrict.program.linking.source_folders import source_folders
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.confirm.slices import Statement

#: Beyond these, files are not looked at (bytes are those of one file).
MAX_FILES = 6000
_MAX_BYTES = 400_000
_MAX_DIRECTORIES = 4000
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist", "venv", "env", "third_party"})


class File(NamedTuple):
    """A file that was parsed."""

    path: str
    text: str
    tree: ast.Module
    statements: list[Statement]


class Project:
    """The files below one directory; may be used from several threads."""

    def __init__(self, root: str, overlays: Mapping[str, str] | None = None) -> None:
        """Nothing is read yet. `overlays` are unsaved texts, which count instead of files, by absolute path."""
        self.root = os.path.abspath(root)
        self._overlays = dict(overlays or {})
        self._lock = threading.Lock()
        self._paths: list[str] | None = None
        self._texts: dict[str, bytes] = {}
        self._parsed: dict[str, File | None] = {}

    def paths(self) -> list[str]:
        """The Python files, those nearest to the root first."""
        with self._lock:
            if self._paths is None:
                self._paths = list(_python_files(self.root))
            return self._paths

    def state(self) -> str:
        """A text that is another one when there are other files."""
        return hashlib.sha256("\n".join(self.paths()).encode("utf-8", "surrogatepass")).hexdigest()

    def mentioning(self, *alternatives: Iterable[str], below: str = "") -> list[str]:
        """The files whose text holds, of each set of words, at least one; only those below a directory if one is given.

        An empty set of words is met by none.
        """
        words = [Words(one) for one in alternatives]
        prefix = os.path.join(below, "") if below else ""
        paths = (path for path in self.paths() if path.startswith(prefix))
        return [path for path in paths if all(one.are_in(self._bytes(path)) for one in words)]

    def file(self, path: str) -> File | None:
        """A file, parsed; None if that fails."""
        with self._lock:
            if path not in self._parsed:
                self._parsed[path] = _parsed(path, self._overlays.get(path))
            return self._parsed[path]

    def holds(self, path: str) -> bool:
        """Whether a file lies below the directory."""
        return bool(module_names(path, self.root, self.root))

    def names_of(self, path: str) -> frozenset[str]:
        """The dotted names under which a file may be imported."""
        file = self.file(path)
        imported = imported_as(path, file.text if file is not None else "")
        return module_names(path, self.root, imported.folders[-1]) | {imported.name}

    def _bytes(self, path: str) -> bytes:
        known = self._texts.get(path)
        if known is None:
            overlay = self._overlays.get(path)
            known = _read(path) if overlay is None else overlay.encode("utf-8", "surrogatepass")
            self._texts[path] = known
        return known


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError:
        return b""
    return text if len(text) <= _MAX_BYTES else b""


def _parsed(path: str, overlay: str | None) -> File | None:
    from nonstrict.text.source import UnreadableSource, read_source

    try:
        text = read_source(path).code if overlay is None else overlay
        tree = tree_of(text, path=path)
    except (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return File(path, text, tree, statements_of(tree))


def _python_files(root: str) -> Iterator[str]:
    """The Python files below a directory, level by level; not those of environments, packages and builds."""
    level = [root]
    files = directories = 0
    while level:
        below: list[str] = []
        for folder in level:
            directories += 1
            if files >= MAX_FILES or directories > _MAX_DIRECTORIES:
                return
            names, folders = _entries(folder)
            files += len(names)
            yield from names
            below += folders
        level = below


def _entries(folder: str) -> tuple[list[str], list[str]]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return [], []
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return [], []
    files = [entry.path for entry in entries if entry.name.endswith(".py") and entry.is_file()]
    folders = [
        entry.path
        for entry in entries
        if entry.name not in _SKIPPED and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
    ]
    return files, folders


def module_names(path: str, root: str, package_root: str) -> frozenset[str]:
    """The dotted names under which a file may be imported.

    `package_root` is the directory above its topmost package: a name begins there or above, down from the root.
    """
    relative = os.path.relpath(path, root)
    if relative.startswith(os.pardir):
        return frozenset()
    parts = os.path.splitext(relative)[0].split(os.sep)
    if parts[-1] == "__init__":
        parts.pop()
    above = os.path.relpath(package_root, root)
    latest = 0 if above in {os.curdir, os.pardir} else above.count(os.sep) + 1
    return frozenset(".".join(parts[start:]) for start in range(min(latest, len(parts) - 1) + 1) if parts)


def search_path(root: str) -> list[str]:
    """The directories of a project that hold modules: the root, and its folders of sources."""
    return [os.path.normpath(root), *source_folders(os.path.abspath(root), Disk())]
