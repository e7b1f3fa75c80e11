"""The baseline of a workspace folder: the findings that it holds are not told, and it is read again when it changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.check.baseline import Baseline, baseline_of, read_baseline
from nonstrict.report.context import Lines
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import DEFAULT_BASELINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.check.live.folder import Folder
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source


class Known:
    """What a folder's baseline holds: nothing where there is none, or where its file is no baseline."""

    def __init__(self, settings: Settings) -> None:
        """Read it."""
        self._settings = settings
        self._stamp: tuple[int, ...] | None = None
        self._baseline: Baseline | None = None
        self._look()

    def new(self, diagnostics: Sequence[Diagnostic], source: Callable[[str], Source | None]) -> tuple[Diagnostic, ...]:
        """Those of all diagnostics of a file that are not known; `source` gives the text of a file."""
        self._look()
        if self._baseline is None or not self._baseline.entries:
            return tuple(diagnostics)
        return self._baseline.divided(diagnostics, _lines(diagnostics, source)).new

    def _look(self) -> None:
        """Read the file if it is another one than it was."""
        stamp = _stamp(self._settings.baseline_path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._baseline = baseline_of(self._settings) if stamp is not None else None
        except ConfigurationError:
            self._baseline = None


def write_baseline(folder: Folder, strange: Iterable[Diagnostic] = ()) -> Baseline:
    """Write a baseline of everything in a folder; what is left to examine is examined first.

    It keeps what it knows of files outside of the folder. `strange` are findings that only experiments tell of.

    Raises:
        ConfigurationError: the file that is there is no baseline.
        OSError: it cannot be written.
    """
    folder.scan()
    for path in folder.pending():
        folder.examine(path)
    checked = frozenset(folder.files)
    found = [one for path in folder.files_with_findings() for one in folder.found(path)]
    found = [one for one in (*found, *strange) if one.location.path in checked]
    path = folder.settings.baseline_path or os.path.join(folder.settings.root, DEFAULT_BASELINE)
    before = read_baseline(path) if os.path.exists(path) else Baseline(path)
    made = before.replaced(found, checked, _lines(found, folder.source))
    made.write()
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
