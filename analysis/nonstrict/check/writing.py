"""Writes changed files so that nothing is ever lost: all beside their targets first, then each renamed into place."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.check.fixing import Change


class CannotWrite(Exception):  # noqa: N818 - the name says what happened
    """Files that could not be written; the message says which, why, and which others were."""


class _Ready(NamedTuple):
    """A change that is written beside its target."""

    change: Change
    target: str
    temporary: str


def write_all(changes: Sequence[Change]) -> None:
    """Write all changes or, as far as the disk allows, none. Links are followed, permissions kept.

    Raises:
        CannotWrite: a file is read-only, is another one than was read, or cannot be written.
    """
    ready: list[_Ready] = []
    written: list[str] = []
    try:
        ready.extend(map(_prepared, changes))
        for one in ready:
            _check(one.change, one.target)
        for one in ready:
            os.replace(one.temporary, one.target)
            written.append(one.change.path)
    except OSError as error:
        path = ready[len(written)].change.path if len(ready) == len(changes) else changes[len(ready)].path
        raise CannotWrite(f"{path} cannot be written: {error.strerror or error}. {_told(written)}") from error
    finally:
        for one in ready[len(written) :]:
            _forget(one.temporary)


def _told(written: Sequence[str]) -> str:
    if not written:
        return "No file was changed."
    return f"These files were changed before: {', '.join(written)}."


def _prepared(change: Change) -> _Ready:
    """Write a change beside its target, with the permissions of the target."""
    import tempfile

    target = os.path.realpath(change.path)
    _check(change, target)
    status = os.stat(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
            # Where that is not allowed, the owner changes, and what may be done with the file stays as it is.
            with contextlib.suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
    except BaseException:
        _forget(temporary)
        raise
    return _Ready(change, target, temporary)


def _check(change: Change, target: str) -> None:
    """That a file is the one that was read, and may be written."""
    with open(target, "rb") as file:
        same = file.read() == change.before
    if not same:
        raise CannotWrite(f"{change.path} was changed by somebody else meanwhile; run again. No file was changed.")
    # The superuser may write everything: what the owner protects is left alone all the same.
    if not os.stat(target).st_mode & 0o222 or not os.access(target, os.W_OK):
        raise CannotWrite(f"{change.path} is read-only; make it writable or exclude it. No file was changed.")


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
