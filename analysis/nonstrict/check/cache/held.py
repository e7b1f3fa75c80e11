"""What one process keeps in memory between its runs, in front of the cache, and what the last one rests on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.check.cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.check.cache.asked import Rest
    from nonstrict.check.cache.runs import Cache
    from nonstrict.program.linking.disk import Question


class Depends(NamedTuple):
    """What a run rests on beside the files that are checked, by absolute paths.

    `files` were read, `questions` asked of the disk.
    """

    files: frozenset[str] = frozenset()
    questions: tuple[Question, ...] = ()


class Held:
    """The entries of all cache directories that runs of this process use.

    They are read from the `disk` where it holds more, and written there by `save`, unless it is to be left alone.
    """

    def __init__(self, *, disk: bool) -> None:
        """Nothing is known yet."""
        self._disk = disk
        self._stores: dict[str, _HeldStore] = {}
        self._cache: Cache | None = None
        self._read: tuple[str, ...] = ()
        self._rest: Rest | None = None
        self._asked: tuple[Question, ...] = ()
        self._asked_for: Rest | None = None

    def store(self, directory: str) -> Store:
        """The entries of a cache directory."""
        return self._stores.setdefault(directory, _HeldStore(directory, disk=self._disk))

    def save(self) -> None:
        """Write what the next process has a use for."""
        if self._disk:
            for store in self._stores.values():
                store.save()

    def note(self, cache: Cache | None, read: Iterable[str], rest: Rest | None) -> None:
        """Remember what a run read, and what answers its questions; these are those of an earlier run if unknown."""
        self._read = tuple(read)
        self._cache = cache if cache is not None else self._cache
        self._rest = rest if rest is not None else self._rest

    @property
    def depends(self) -> Depends:
        """What the last run rests on."""
        cache, rest = self._cache, self._rest
        if cache is None:
            return Depends(frozenset(map(os.path.abspath, self._read)))
        if rest is not None and rest is not self._asked_for:
            from nonstrict.check.cache.asked import questions_of

            self._asked, self._asked_for = tuple(questions_of(rest, cache)), rest
        known = map(cache.places.here, rest.files if rest is not None else ())
        models = (path for one in cache.environments.every for path in one.models)
        files = map(os.path.abspath, (*self._read, *models, *known))
        return Depends(frozenset(files), self._asked)


class _HeldStore(Store):
    """Entries in memory, on top of those of a directory."""

    def __init__(self, directory: str, *, disk: bool) -> None:
        super().__init__(directory)
        self._disk = disk
        self._kept: dict[str, object] = {}

    def load(self, name: str) -> Any | None:
        known = self._kept.get(name)
        return super().load(name) if known is None and self._disk else known

    def keep(self, name: str, document: object) -> None:
        self._kept[name] = document

    def save(self) -> None:
        """Write them to the directory."""
        for name, document in self._kept.items():
            super().keep(name, document)
