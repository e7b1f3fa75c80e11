"""Wheels, source archives and extensions as their files: bytes by path."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

#: Ends of names that only some machines can use, or that are made anew everywhere.
NATIVE = (".so", ".pyd", ".dll", ".dylib", ".node", ".exe")
LEFT_OVER = (".pyc", ".pyo", ".orig", ".rej", ".map", ".ts", ".env")
#: Folders that are nobody's source.
_PRIVATE = frozenset({"__pycache__", "node_modules", ".git", ".venv", ".vscode-test", ".pytest_cache", ".hypothesis"})
#: The packages in a wheel, by the folder that each lies in.
PACKAGES = {
    "nonstrict": "analysis",
    "nonstrict_agent": "analysis",
    "nonstrict_pytest": "analysis",
    "nonstrict_mcp": "server",
    "nonstrict_server": "server",
}


def files_of(path: Path) -> dict[str, bytes]:
    """The files of an archive.

    Raises:
        ValueError: it is no archive of this kind, or a member leads out of it.
    """
    try:
        found = _of_tar(path) if path.name.endswith(".tar.gz") else _of_zip(path)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    for name in found:
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or "\\" in name:
            raise ValueError(f"{path.name}: `{name}` leads out of the archive")
    return found


def _of_zip(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}


def _of_tar(path: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None and not member.isdir():
                raise ValueError(f"{path.name}: `{member.name}` is not a plain file")
            if file is not None:
                found[member.name] = file.read()
    return found


def unwanted(names: Iterable[str], ends: tuple[str, ...]) -> Iterator[str]:
    """The names that have no place in what is released."""
    for name in sorted(names):
        if name.endswith(ends) or not _PRIVATE.isdisjoint(PurePosixPath(name).parts):
            yield name


def sources(root: Path) -> dict[str, bytes]:
    """The files of the packages in a tree, by their path in a wheel."""
    found: dict[str, bytes] = {}
    for package, folder in PACKAGES.items():
        for path in (root / folder / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found[path.relative_to(root / folder).as_posix()] = path.read_bytes()
    return found


def differences(ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> Iterator[str]:
    """How files differ from those that were expected: `NAME is missing`."""
    for name in sorted({*ours, *theirs}):
        if name not in theirs:
            yield f"`{name}` is missing"
        elif name not in ours:
            yield f"`{name}` should not be there"
        elif ours[name] != theirs[name]:
            yield f"`{name}` is another file"
