"""The baselines of a workspace folder: what they hold is not told, and they are read again when they change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.check.baseline import baseline_of
from nonstrict.check.baselines import rewritten, with_baseline
from nonstrict.report.context import Lines
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.check.baseline import Baseline
    from nonstrict.check.live.folder import Folder
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.projects import Projects
    from nonstrict.text.source import Source


class Known:
    """What the baselines of a folder hold: nothing where there is none, or where its file is not a baseline."""

    def __init__(self, projects: Projects) -> None:
        """Nothing is read yet."""
        self._projects = projects
        self._read: dict[str, tuple[tuple[int, ...], Baseline | None]] = {}

    def new(
        self, path: str, diagnostics: Sequence[Diagnostic], source: Callable[[str], Source | None]
    ) -> tuple[Diagnostic, ...]:
        """Those of all diagnostics of a file that are not known; `source` gives the text of a file."""
        baseline = self._baseline_of(path)
        if baseline is None or not baseline.entries:
            return tuple(diagnostics)
        return baseline.divided(diagnostics, _lines(diagnostics, source)).new

    def _baseline_of(self, path: str) -> Baseline | None:
        """The baseline that counts for a file, read anew if it is another one than it was."""
        settings = with_baseline(self._projects, path)
        place = settings.baseline_path
        stamp = _stamp(place)
        if place is None or stamp is None:
            return None
        known = self._read.get(place)
        if known is None or known[0] != stamp:
            try:
                known = stamp, baseline_of(settings)
            except ConfigurationError:
                known = stamp, None
            self._read[place] = known
        return known[1]


def write_baselines(folder: Folder, strange: Iterable[Diagnostic] = ()) -> list[Baseline]:
    """Write baselines of everything in a folder; what is left to examine is examined first.

    They keep what they know of files outside of the folder. `strange` are findings that only experiments tell of.

    Raises:
        ConfigurationError: a file that is there is no baseline.
        OSError: one cannot be written.
    """
    folder.scan()
    for path in folder.pending():
        folder.examine(path)
    checked = frozenset(folder.files)
    found = [one for path in folder.files_with_findings() for one in folder.found(path)]
    found = [one for one in (*found, *strange) if one.location.path in checked]
    made = rewritten(folder.projects, found, checked, _lines(found, folder.source))
    for one in made:
        one.write()
    return made


def _lines(diagnostics: Iterable[Diagnostic], source: Callable[[str], Source | None]) -> Lines:
    texts = ((path, source(path)) for path in {one.location.path for one in diagnostics})
    return Lines({path: text for path, text in texts if text is not None})


def _stamp(path: str | None) -> tuple[int, ...] | None:
    """What tells one state of a file from another; None where there is none."""
    try:
        status = os.stat(path) if path is not None else None
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino) if status is not None else None
