"""A tree of git as a folder of its own, beside which nothing of the working tree is touched.

What git ignores, such as environments and generated code, belongs to no tree: in the folder, links lead to it where it
is now.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from nonstrict.check.since.git import GitError, Repository
from nonstrict.settings.model import PAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Generator

    from nonstrict.check.since.git import Blob

_LINK, _SUBMODULE = "120000", "160000"
_CODE = (".py", ".pyi", ".ipynb")
_NEVER = frozenset({"", ".", "..", ".git"})


@contextmanager
def folder_of(repository: Repository, commit: str | None) -> Generator[str]:
    """A temporary folder with the files of a commit, or of what is staged (None): an absolute path without links.

    Large files that are no code are empty in it: that they are there is all that can matter of them.

    Raises:
        GitError: git lacks a file of it, or the folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="nonstrict-", ignore_cleanup_errors=True) as made:
        folder = os.path.realpath(made)
        try:
            _write(repository, commit, folder)
            for path in repository.ignored():
                _link(repository, path, folder)
        except OSError as error:
            reason = error.strerror or str(error)
            raise GitError(
                f"{made} cannot hold the earlier state of the files ({reason}). Set TMPDIR to a folder with room."
            ) from None
        yield folder


def _write(repository: Repository, commit: str | None, folder: str) -> None:
    blobs = [blob for blob in repository.blobs(commit) if not _NEVER.intersection(blob.path.split("/"))]
    files = [blob for blob in blobs if blob.mode not in (_LINK, _SUBMODULE)]
    wanted = [blob for blob in files if _matters(blob)]
    for blob in files:
        os.makedirs(os.path.join(folder, os.path.dirname(blob.path)), exist_ok=True)
    for blob, data in zip(wanted, repository.contents([blob.identity for blob in wanted]), strict=True):
        _put(folder, blob.path, data)
    for blob in set(files).difference(wanted):
        _put(folder, blob.path, b"")
    for blob in blobs:
        if blob.mode == _SUBMODULE:
            _write_submodule(repository, blob, folder)
    # Last, so that nothing was written by way of a link.
    links = [blob for blob in blobs if blob.mode == _LINK]
    for blob, target in zip(links, repository.contents([blob.identity for blob in links]), strict=True):
        os.makedirs(os.path.join(folder, os.path.dirname(blob.path)), exist_ok=True)
        os.symlink(os.fsdecode(target), os.path.join(folder, blob.path))
    _end_here(repository, folder)


def _matters(blob: Blob) -> bool:
    return blob.size <= PAGE_LIMIT or blob.path.endswith(_CODE)


def _put(folder: str, path: str, data: bytes) -> None:
    with open(os.path.join(folder, path), "wb") as file:
        file.write(data)


def _write_submodule(repository: Repository, blob: Blob, folder: str) -> None:
    """The files of a submodule as they were, if its repository is here."""
    own = Repository(os.path.join(repository.top, blob.path))
    place = os.path.join(folder, blob.path)
    os.makedirs(place, exist_ok=True)
    if os.path.exists(os.path.join(own.top, ".git")):
        with suppress(GitError):
            _write(own, own.commit(blob.identity), place)


def _end_here(repository: Repository, folder: str) -> None:
    """Have the folder be the top of a repository, with the rules about ignored files that only this clone knows."""
    info = os.path.join(folder, ".git", "info")
    os.makedirs(info, exist_ok=True)
    with suppress(OSError), open(repository.excludes(), "rb") as file:
        _put(info, "exclude", file.read())


def _link(repository: Repository, path: str, folder: str) -> None:
    if os.path.basename(path) == "__pycache__":
        return
    place = os.path.join(folder, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if not os.path.lexists(place):
        # Not every system lets everybody make links: what is generated is unknown then, as in a fresh clone.
        with suppress(OSError):
            os.symlink(os.path.join(repository.top, path), place)
