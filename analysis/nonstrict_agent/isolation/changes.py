"""What a containment's work did to files, read from the upper layers of its overlays.

A whiteout (character device 0:0) stands for a deleted entry, a directory marked opaque for one that was replaced; see
https://docs.kernel.org/filesystems/overlayfs.html. To be read outside Landlock, or there is silently nothing.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict_agent.isolation.overlay import Layer

MOST = 200
_MOST_LOOKED_AT = 20_000
_OPAQUE = "user.overlay.opaque"
# Written by Python and torch on their own account, wherever they are configured to.
_OWN_NAMES = {"__pycache__", ".triton", ".nv"}
_OWN_PREFIXES = ("torchinductor_", ".nonstrict_cache")


class Change(NamedTuple):
    """One file: `written` (it existed), `created` or `deleted`; directories end with a slash. `size` is in bytes."""

    kind: str
    path: str
    size: int


class Changes(NamedTuple):
    """Changes by path, and how many more there were (at least)."""

    listed: list[Change]
    left_out: int


def read(layers: list[Layer]) -> Changes:
    """The changes that the layers record; at most `MOST` are listed."""
    listed: list[Change] = []
    left_out = 0
    for layer in layers:
        for change in _of_layer(layer):
            if len(listed) < MOST:
                listed.append(change)
            else:
                left_out += 1
    return Changes(sorted(listed, key=lambda change: change.path), left_out)


def _of_layer(layer: Layer) -> Iterator[Change]:
    looked_at = 0
    for directory, directories, files, handle in os.fwalk(".", dir_fd=layer.upper, follow_symlinks=False):
        directories[:] = sorted(name for name in directories if not _own(name))
        place = os.path.normpath(directory)
        for name in [*directories, *files]:
            relative = os.path.normpath(os.path.join(place, name))
            if _own(name) or (layer.made and f"{layer.path}/{relative}" in layer.made):
                continue
            yield from (_directory if name in directories else _file)(layer, relative, name, handle)
        looked_at += len(directories) + len(files)
        if looked_at > _MOST_LOOKED_AT:
            return


def _own(name: str) -> bool:
    return name in _OWN_NAMES or name.startswith(_OWN_PREFIXES)


def _file(layer: Layer, relative: str, name: str, handle: int) -> Iterator[Change]:
    path = f"{layer.path}/{relative}"
    now, before = _status(name, handle), _status(relative, layer.lower)
    if now is None:
        return
    if stat.S_ISCHR(now.st_mode) and now.st_rdev == 0:
        slash = "/" if before is not None and stat.S_ISDIR(before.st_mode) else ""
        yield Change("deleted", path + slash, 0)
    elif before is None:
        yield Change("created", path, now.st_size)
    elif _traits(now) != _traits(before):
        yield Change("written", path, now.st_size)


def _directory(layer: Layer, relative: str, name: str, handle: int) -> Iterator[Change]:
    path = f"{layer.path}/{relative}/"
    now, before = _status(name, handle), _status(relative, layer.lower)
    if before is None:
        yield Change("created", path, 0)
        return
    if not stat.S_ISDIR(before.st_mode):
        yield Change("deleted", path.rstrip("/"), 0)
        yield Change("created", path, 0)
    elif _opaque(name, handle):
        yield Change("deleted", path, 0)
        yield Change("created", path, 0)
    elif layer.made is None and now is not None and stat.S_IMODE(now.st_mode) != stat.S_IMODE(before.st_mode):
        yield Change("written", path, 0)


def _status(path: str, directory: int) -> os.stat_result | None:
    try:
        return os.stat(path, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None


def _traits(status: os.stat_result) -> tuple[int, ...]:
    # A file that was only opened for writing has been copied, times and all.
    return status.st_size, status.st_mtime_ns, status.st_mode, status.st_uid


def _opaque(name: str, handle: int) -> bool:
    try:
        return os.getxattr(f"/proc/self/fd/{handle}/{name}", _OPAQUE, follow_symlinks=False) in {b"y", b"x"}
    except OSError:
        return False
