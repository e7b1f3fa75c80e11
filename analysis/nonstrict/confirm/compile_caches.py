"""What experiments compiled, kept between runs: apart for each project and each tier of isolation.

torch unpickles what it finds in its caches. So a project reads only what itself wrote, at the same tier: nothing that
was written in a sandbox is read outside of it, or where another project runs. Below the directory of these caches,
`TIER/projects/NAME` belongs to a project; `TIER/warm` is written by the agent alone, before any code of users runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What all projects may keep together, in bytes; beyond it, those that were not used for longest are removed.
LIMIT = 2 << 30
#: Who used its cache so lately may be using it still, in seconds.
RECENT = 600.0
_PROJECTS = "projects"
_DOOMED = ".removed-"


class _Kept(NamedTuple):
    """The cache of one project at one tier."""

    used: float
    size: int
    path: str


def cache_home() -> str:
    """Where compiled kernels and verdicts are kept: the cache directory of the user (XDG base directories)."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "nonstrict")


def compile_caches_home() -> Path:
    """Where agents keep what they compile."""
    return Path(cache_home()) / "torch"


def name_of(root: str) -> str:
    """The name of a project's caches."""
    return hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def prune(directory: str, limit: int = LIMIT) -> None:
    """Remove what was not used for longest until the rest weighs no more than `limit`. Never raises."""
    now = time.time()
    kept = sorted(_kept(path) for path in _projects(directory))
    total = sum(one.size for one in kept)
    for one in kept:
        if total <= limit or now - one.used < RECENT:
            return
        total -= one.size
        _remove(one.path)


def remove(directory: str, root: str) -> list[str]:
    """Remove the caches of a project; their paths."""
    name = name_of(root)
    found = [path for path in _projects(directory) if os.path.basename(path) == name]
    for path in found:
        _remove(path)
    return found


def _projects(directory: str) -> Iterator[str]:
    for tier in _folders(directory):
        for path in _folders(os.path.join(tier, _PROJECTS)):
            # Another process was ended while it removed this.
            if os.path.basename(path).startswith(_DOOMED):
                shutil.rmtree(path, ignore_errors=True)
            else:
                yield path


def _folders(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _kept(path: str) -> _Kept:
    """How large a cache is. Links in it, which anybody may have made there, are not followed."""
    size, used = 0, 0.0
    with contextlib.suppress(OSError):
        used = os.lstat(path).st_mtime
    for folder, _, names in os.walk(path, followlinks=False):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(folder, name)).st_size
    return _Kept(used, size, path)


def _remove(path: str) -> None:
    """Out of the way at once, so that nobody finds one half removed."""
    folder, name = os.path.split(path)
    doomed = os.path.join(folder, f"{_DOOMED}{os.getpid()}-{name}")
    with contextlib.suppress(OSError):
        os.rename(path, doomed)
        shutil.rmtree(doomed, ignore_errors=True)
