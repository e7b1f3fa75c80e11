"""What the system tells of changes in folders, by `watchfiles`; where it tells nothing, they are looked at again.

Each folder is watched by itself, so that nothing is spent on those below that nobody asks about.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from watchfiles import Change as Kind
from watchfiles import watch

from nonstrict.check.watching import Change

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Changes are waited for so long, in milliseconds, until none follows; all together no longer than `_TOGETHER`.
_STEP = 50
_TOGETHER = 1_600
#: File systems that do not tell of what others change.
_SILENT = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "drvfs",
        "gpfs",
        "lustre",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "fuse.gvfsd-fuse",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
    }
)
_MOUNTS = "/proc/self/mounts"
_POLLING = "WATCHFILES_FORCE_POLLING"


class Notices:
    """Notices of changes in some folders that exist, from when it is made.

    `polling` says why the folders are looked at again and again; empty where the system tells.
    """

    def __init__(self, folders: Iterable[str], polling: str = "") -> None:
        """Begin to watch, by looking where the system cannot tell or refuses to."""
        self.folders = frozenset(folders)
        self.polling = polling or _asked_for() or silent(self.folders)
        try:
            self._begin()
        except FileNotFoundError:
            raise
        except (OSError, RuntimeError) as error:
            self.polling = f"the system does not watch so many folders ({_first_line(error)})"
            self._begin()

    def _begin(self) -> None:
        self._changes = watch(
            *sorted(self.folders),
            watch_filter=None,
            debounce=_TOGETHER,
            step=_STEP,
            rust_timeout=_STEP,
            yield_on_timeout=True,
            force_polling=bool(self.polling),
            recursive=False,
            ignore_permission_denied=True,
        )
        self._known = self._next()

    def _next(self) -> list[Change]:
        return [Change(path, kind is Kind.modified) for kind, path in next(self._changes)]

    def wait(self) -> list[Change]:
        """The next changes; none where there were none for a moment."""
        known, self._known = self._known, []
        return known or self._next()

    def close(self) -> None:
        """Watch no longer."""
        self._changes.close()


def _asked_for() -> str:
    value = os.environ.get(_POLLING, "").lower()
    return f"{_POLLING} is set" if value not in {"", "false", "disable", "disabled"} else ""


def silent(folders: Iterable[str]) -> str:
    """Why the system does not tell of changes in some folders; empty where it does, or somebody says so."""
    if os.environ.get(_POLLING):
        return ""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="replace") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return ""
    kinds = {place.replace("\\040", " ").rstrip(os.sep): kind for place, kind in mounts}
    for folder in sorted(folders):
        here = os.path.realpath(folder)
        while here.rstrip(os.sep) not in kinds and os.path.dirname(here) != here:
            here = os.path.dirname(here)
        kind = kinds.get(here.rstrip(os.sep), "")
        if kind in _SILENT:
            return f"file systems of type {kind} do not tell of changes"
    return ""


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
