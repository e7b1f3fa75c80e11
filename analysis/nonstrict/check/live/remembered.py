"""What the last session said of a folder, as long as no file has changed: shown until it is examined again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.check.cache.asked import kept
from nonstrict.check.cache.runs import Entry, open_cache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.check.cache.asked import Questions
    from nonstrict.check.files import Discovery
    from nonstrict.check.live.results import Results
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings


class Remembered:
    """The diagnostics of a folder as its files on the disk are, from the cache of runs."""

    def __init__(self, discovery: Discovery, settings: Settings) -> None:
        """Look for an entry that holds."""
        self._cache = open_cache([settings.root], discovery, settings, fixes=None)
        entry = self._cache.load()
        self._found: dict[str, tuple[Diagnostic, ...]] | None = None
        self._holds = True
        if entry is not None:
            self._found = {}
            for diagnostic in entry.diagnostics:
                path = diagnostic.location.path
                self._found[path] = (*self._found.get(path, ()), diagnostic)

    def of(self, path: str) -> tuple[Diagnostic, ...] | None:
        """The diagnostics of a file; None where nothing is remembered that holds."""
        return self._found.get(path, ()) if self._found is not None else None

    def paths(self) -> frozenset[str]:
        """The files with diagnostics."""
        return frozenset(self._found or ())

    def drop(self) -> None:
        """Some text is no longer that on the disk."""
        self._found = None
        self._holds = False

    def settle(self) -> bool:
        """All is known by examination now. Whether that is to be kept for the next session."""
        wanted, self._holds = self._holds and self._found is None, False
        self._found = None
        return wanted

    def keep(self, diagnostics: Iterable[Diagnostic], results: Results, questions: Questions) -> None:
        """Keep what is known for the next session, with what was read and what the disk was asked for it."""
        rest = kept(questions, self._cache, None)
        self._cache.store(Entry(tuple(diagnostics), (), results.counts()), results.read(), rest)
