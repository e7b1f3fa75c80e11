"""A directory of entries: each is a file with a checksum, and the oldest are dropped when they are too large together.

A cache that cannot be read or written is no cache; it never fails a run.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from nonstrict import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.settings.model import Settings

DIRECTORY = ".nonstrict_cache"
#: Bytes of all entries together, in one cache directory.
MAX_BYTES = 128_000_000
#: No entry is larger than this when it is unpacked.
_MAX_ENTRY = 512_000_000
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of nonstrict. See https://bford.info/cachedir/\n"
_DIGEST = 16


class Store:
    """The entries of this version in a cache directory."""

    def __init__(self, directory: str) -> None:
        """Nothing is read or written yet."""
        self.directory = directory
        self._folder = os.path.join(directory, __version__)

    def load(self, name: str) -> Any | None:
        """The JSON that an entry holds; None if there is none, or if it is damaged."""
        data = self.read(name)
        return json.loads(data) if data is not None else None

    def keep(self, name: str, document: object) -> None:
        """Keep JSON as an entry, which is changed no more, and drop the oldest ones."""
        self.write(name, packed(document))

    def read(self, name: str) -> bytes | None:
        """What an entry holds; None if there is none, or if it is damaged."""
        path = os.path.join(self._folder, name)
        try:
            with open(path, "rb") as file:
                digest, packed = file.read(_DIGEST), file.read()
            if _digest(packed) != digest:
                return None
            unpacking = zlib.decompressobj()
            data = unpacking.decompress(packed, _MAX_ENTRY)
        except (OSError, zlib.error):
            return None
        if not unpacking.eof:
            return None
        with suppress(OSError):
            os.utime(path)  # what is used is dropped last
        return data

    def write(self, name: str, data: bytes) -> None:
        """Keep an entry, and drop the oldest ones."""
        packed = zlib.compress(data, 1)
        path = os.path.join(self._folder, name)
        temporary = f"{path}.{os.getpid()}"
        with suppress(OSError):
            self._prepare()
            with open(temporary, "wb") as file:
                file.write(_digest(packed) + packed)
            os.replace(temporary, path)
            self._prune()

    def _prepare(self) -> None:
        """Make the directory, marked as a cache for backup tools and for git."""
        os.makedirs(self._folder, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            path = os.path.join(self.directory, name)
            if not os.path.exists(path):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)

    def _prune(self) -> None:
        entries = sorted(self._entries(), reverse=True)
        left = MAX_BYTES
        for _, path, size in entries:
            left -= size
            if left < 0:
                with suppress(OSError):
                    os.unlink(path)

    def _entries(self) -> Iterator[tuple[int, str, int]]:
        """Time, path and size of the entries of all versions."""
        for version in os.scandir(self.directory):
            if version.is_dir(follow_symlinks=False):
                for entry in os.scandir(version.path):
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime_ns, entry.path, status.st_size


def packed(value: object) -> bytes:
    """A value as JSON."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def is_cache(directory: str) -> bool:
    """Whether a directory carries the mark of our cache."""
    try:
        with open(os.path.join(directory, "CACHEDIR.TAG"), encoding="utf-8") as file:
            return file.read() == _TAG
    except (OSError, UnicodeDecodeError):
        return False


def cache_directory(settings: Settings) -> str:
    """Where results are kept: as configured, else in the root of the project."""
    return settings.cache_dir or os.path.join(settings.root, DIRECTORY)


def _digest(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_DIGEST).digest()
