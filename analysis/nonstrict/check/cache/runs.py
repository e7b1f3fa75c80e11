"""The answer of a whole run: one in which nothing changed is answered from it.

An entry holds if the settings, the environment and the bytes of all files are those of this run, and if what the
analysis read and asked of the disk besides is as it was. Paths are kept as every clone has them.
"""

from __future__ import annotations

import os
import sys
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.check.cache.contents import Contents
from nonstrict.check.cache.places import Places
from nonstrict.check.cache.records import Unknown, read, written
from nonstrict.check.cache.store import Store, cache_directory, packed
from nonstrict.check.environment import environments_of
from nonstrict.coverage import Counts
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.check.cache.asked import Rest
    from nonstrict.check.cache.held import Held
    from nonstrict.check.environment import Environments, Home
    from nonstrict.check.files import Discovery
    from nonstrict.findings import Applicability, Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

_FORMAT = 11
#: Ends of the names that tell what is installed in a folder.
DISTRIBUTIONS = (".dist-info", ".egg-info", ".egg-link", ".pth")
#: Settings that decide nothing about what is found.
_SHOWING = ("cache_dir", "output_format")


class Entry(NamedTuple):
    """What a run said, the (path, reason) of what could not be read, and how much was looked at."""

    diagnostics: tuple[Diagnostic, ...]
    unread: tuple[tuple[str, str], ...]
    counts: Counts


class Kind(NamedTuple):
    """What tells runs apart whose entries are kept beside one another.

    `analysis` decides what is found in files, `answer` also what of it is told.
    """

    analysis: str
    answer: str


class Cache:
    """The entry of one run: `load` it, or `store` it."""

    def __init__(
        self,
        store: Store,
        kind: Kind,
        places: Places,
        environments: Environments,
        files: Sequence[str],
        supposed: Mapping[str, Source] | None = None,
    ) -> None:
        """Read what the files hold now: those that are checked. `environments` are what is installed."""
        self._began = time.time_ns()
        self._settled: set[str] = set()
        self.environments = environments
        self.directory = store.directory
        self.contents = Contents(store, supposed)
        self.kind = kind
        self.places = places
        self.entries = store
        #: what the answer that was loaded rests on besides
        self.rest: Rest | None = None
        self.digests = {path: self.contents.digest(path) for path in files}
        #: tells what the findings of all files rest on from other versions of it
        self.stamp = identity(self._told_environments())
        self._all = identity([self.stamp, list(self.digests.items())])

    def known_digest(self, path: str) -> str:
        """What identifies the bytes of a file of the run, or of another one."""
        known = self.digests.get(path)
        return self.contents.digest(path) if known is None else known

    @property
    def torches(self) -> tuple[str | None, ...]:
        """The versions of torch that the run is for."""
        return self.environments.torches(self.digests)

    def _told_environments(self) -> list[object]:
        """The environments of the run, and the files of those that are not its main one."""
        every = self.environments.every
        told = [
            [
                one.torch_version,
                one.python,
                *map(self.known_digest, one.models),
                *map(self.places.shared, one.site_packages),
            ]
            for one in every
        ]
        own = self.environments.own
        return [told, [[self.places.shared(path), every.index(own[path])] for path in self.digests if path in own]]

    def load(self) -> Entry | None:
        """The answer of the last run on the same input, None if there is none that holds."""
        document: dict[str, Any] = self.entries.load(f"{self.kind.answer}.json") or {}
        holds = document.get("files") == self._all and self._holds(document)
        self.contents.save()
        return _entry(document["entry"], self.places) if holds else None

    def _holds(self, document: dict[str, Any]) -> bool:
        from nonstrict.check.cache.asked import Rest, hold

        rest = Rest(tuple(document["folders"]), document["read"], document["disk"])
        if hold(rest, self):
            self.rest = rest
        return self.rest is not None

    def store(self, entry: Entry, dependencies: Iterable[str], rest: Rest) -> None:
        """Keep an answer, with the further files that were read for it and what the disk was asked.

        Nothing is kept if a file changed meanwhile: which text the answer is for cannot be told then.
        """
        further = sorted(set(dependencies).difference(self.digests))
        if not self.is_settled((*self.digests, *further)):
            return
        depends = {**rest.files, **{self.places.shared(path): self.contents.digest(path) for path in further}}
        try:
            told = _told(entry, self.places)
        except Unknown:
            return
        document = {"files": self._all, "read": depends, "folders": rest.folders, "disk": rest.identity, "entry": told}
        self.entries.keep(f"{self.kind.answer}.json", document)
        self.contents.save()

    def is_settled(self, paths: Iterable[str]) -> bool:
        """Whether none of some files changed since the run began."""
        asked = set(paths) - self._settled
        settled = all(_changed_at(path) < self._began for path in asked)
        self._settled |= asked if settled else set()
        return settled


def open_cache(
    paths: Sequence[str],
    discovery: Discovery,
    settings: Settings,
    home: Home | None = None,
    *,
    fixes: Applicability | None,
    held: Held | None = None,
    supposed: Mapping[str, Source] | None = None,
) -> Cache:
    """The cache entry of a run over what `paths` mean; `fixes` is the least applicability of those made, if any.

    `home`: see `environments_of`; `held` is what this process keeps in memory; `supposed` are texts that stand for
    files of their paths.
    """
    environments = environments_of(Projects(settings, discovery.nested), home)
    places = Places(settings.root, environments.site_packages)
    found = [
        *(_FORMAT, sys.version_info[:2], sys.platform, places.shared(os.getcwd()), fixes),
        *(places.portable(list(paths)), [sorted(_distributions(folder)) for folder in environments.site_packages]),
    ]
    told = [_portable(settings, places), sorted(map(places.shared, discovery.explicit))]
    kind = Kind(identity(found), identity([*found, *told, _nested(discovery.nested, places)]))
    store = held.store(cache_directory(settings)) if held is not None else Store(cache_directory(settings))
    return Cache(store, kind, places, environments, discovery.files, supposed)


def identity(value: object) -> str:
    """What tells a value of JSON from others."""
    return blake2b(packed(value), digest_size=16).hexdigest()


def _portable(settings: Settings, places: Places) -> object:
    return places.portable({name: one for name, one in settings._asdict().items() if name not in _SHOWING})


def _nested(nested: Mapping[str, Settings], places: Places) -> object:
    """Which settings count below further configuration files: each once, and the files with their numbers."""
    known: dict[int, int] = {}
    told: list[object] = []
    files: list[object] = []
    for path, settings in nested.items():
        if id(settings) not in known:
            known[id(settings)] = len(told)
            told.append(_portable(settings, places))
        files.append([places.shared(path), known[id(settings)]])
    return [told, files]


def _distributions(folder: str) -> Iterable[str]:
    """The names and versions of what is installed in a folder."""
    try:
        return (name for name in os.listdir(folder) if name.endswith(DISTRIBUTIONS))
    except OSError:
        return ()


def _changed_at(path: str) -> int:
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return max(status.st_mtime_ns, status.st_ctime_ns) if os.name != "nt" else status.st_mtime_ns


def _told(entry: Entry, places: Places) -> object:
    """An entry as JSON.

    Without verdicts and what runs did: those depend on more than what the name of a run says, and are kept apart.
    """
    diagnostics = tuple(one._replace(verdict=None, sighting=None) for one in entry.diagnostics)
    unread = [[places.shared(path), reason] for path, reason in entry.unread]
    return [written(diagnostics, places), unread, list(entry.counts)]


def _entry(told: Any, places: Places) -> Entry:
    diagnostics, unread, counts = told
    return Entry(
        read(diagnostics, places),
        tuple((places.here(str(path)), str(reason)) for path, reason in unread),
        Counts(*map(int, counts)),
    )
