"""What real runs did in a workspace folder, beside its findings: read again when a run is kept or code is edited."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from nonstrict.check.observed import Reported
from nonstrict.check.sightings import sighted
from nonstrict.confirm.recorded import plain_name
from nonstrict.confirm.runs.places import Code, Project
from nonstrict.confirm.runs.store import DIRECTORY, kept, placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.check.live.folder import Folder
    from nonstrict.confirm.runs.store import Ran, Run
    from nonstrict.findings import Diagnostic, Measured

#: How long it takes until what is too old to be told may have become more, in seconds.
_HOUR = 3600
_ABOVE = os.path.join(os.sep, os.path.dirname(DIRECTORY))


class Sightings:
    """The runs of one folder. Not thread-safe: one thread uses it."""

    def __init__(self, folder: Folder) -> None:
        """Read nothing yet."""
        self._folder = folder
        self._complete = False
        self._stamp = -1
        self._runs: tuple[Run, ...] = ()
        self._codes: dict[str, Code | None] = {}
        self._hour = 0
        self._project = self._renewed()
        self._seen: tuple[Ran, ...] = ()

    def told(self, path: str, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """All diagnostics of a file that are shown, with what runs made of them, and what runs did beside them.

        The latter are told as soon as everything was examined once.
        """
        named = {os.path.abspath(one.location.path) for each in diagnostics for one in each.related} | {path}
        seen = [one for one in self._looked() if one.region.path in named or path in _files_of(one)]
        if not seen:
            return tuple(diagnostics)
        folder, shown = self._folder, {(one.code, one.location) for one in diagnostics}
        known = [one for one in folder.found(path) if (one.code, one.location) not in shown]
        # Later on, what is examined again counts as it was before.
        self._complete = self._complete or (folder.is_scanned and not folder.pending())
        if self._complete:
            others = {file for one in seen for file in _files_of(one)} & set(folder.files_with_findings()) - {path}
            known += [one for other in sorted(others) for one in folder.found(other)]
        places = {one.location.path for one in (*diagnostics, *known)} | {path}
        sources = {place: source for place in places if (source := folder.source(place)) is not None}
        reported = Reported(diagnostics, sources, folder.presenter)
        return sighted(reported, known, [path] if self._complete else (), seen, self._project)

    def ran(self, path: str, function: str) -> tuple[float, Measured] | None:
        """When the latest run compiled a function of a file as it is now, and what came of it; None if none did."""
        name = plain_name(function)
        fresh = (one for one in self._looked() if not one.stale)
        return next(
            ((one.when, one.region) for one in fresh if (one.region.path, one.region.function) == (path, name)), None
        )

    def _looked(self) -> tuple[Ran, ...]:
        """What runs did in the code as it is now."""
        place = os.path.join(self._folder.settings.root, DIRECTORY)
        stamp, hour = _stamp(place), int(time.time() // _HOUR)
        if stamp != self._stamp:
            self._stamp, self._hour = stamp, 0
            self._runs = kept(place) if stamp else ()
        before = self._codes
        self._codes = {path: self._code(path) for path in self._named()}
        same = all(code is before.get(path) for path, code in self._codes.items())
        if not same or hour != self._hour:
            self._hour = hour
            self._project = self._renewed()
            self._seen = placed(self._runs, self._project, time.time())
        return self._seen

    def _named(self) -> set[str]:
        """The files that runs speak of."""
        root = os.path.abspath(self._folder.settings.root)
        return {
            os.path.join(root, *path.split("/")) for path in {path for run in self._runs for path, _ in run.anchors}
        }

    def _code(self, path: str) -> Code | None:
        """The code of a file, the same as long as its text is."""
        source, known = self._folder.source(path), self._codes.get(path)
        if source is None:
            return None
        return known if known is not None and known.text_is(source.code) else Code(source)

    def _renewed(self) -> Project:
        return Project(self._folder.settings.root, code_of=lambda path: self._codes.get(path) or self._code(path))


def is_run(path: str) -> bool:
    """Whether a path is the record of a run, or a folder that may hold some."""
    places = (path, os.path.dirname(path))
    return path.endswith(_ABOVE) or any(place.endswith(os.path.join(os.sep, DIRECTORY)) for place in places)


def _files_of(one: Ran) -> set[str]:
    region = one.region
    lines = (line for each in (*region.breaks, *region.again) for line in each.lines)
    return {region.path, *(line.path for line in lines), *(left.path for left in region.fallbacks)}


def _stamp(place: str) -> int:
    """What tells one state of a folder from another; 0 where there is none."""
    try:
        return os.stat(place).st_mtime_ns
    except OSError:
        return 0
