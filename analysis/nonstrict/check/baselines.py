"""The baselines of a run: the one of its settings, and those of sub-projects for their files.

A sub-project that has none of its own is known by that of the run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.baseline import Baseline, baseline_of, read_baseline
from nonstrict.settings.model import DEFAULT_BASELINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.check.baseline import Divided
    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Lines
    from nonstrict.settings.model import Settings


class Held(NamedTuple):
    """A baseline, the settings that ask for it, and how it divides the diagnostics of its files."""

    baseline: Baseline
    settings: Settings
    divided: Divided


class Baselines:
    """What is known, in files that are read once."""

    def __init__(self, settings: Settings) -> None:
        """Read that of the run.

        Raises:
            ConfigurationError: it was named and is not there, or is no baseline.
        """
        self._settings = settings
        self._read: dict[str | None, Baseline | None] = {settings.baseline_path: baseline_of(settings)}

    def held(self, diagnostics: Sequence[Diagnostic], nested: Mapping[str, Settings], lines: Lines) -> Iterator[Held]:
        """Hold diagnostics, all of each file, against the baselines; `nested` are the settings of sub-projects.

        Raises:
            ConfigurationError: one of a sub-project was named and is not there, or is no baseline.
        """
        found: dict[str | None, list[Diagnostic]] = {path: [] for path in self._read}
        asking: dict[str | None, Settings] = {self._settings.baseline_path: self._settings}
        for one in {id(one): one for one in nested.values()}.values():
            settings = with_baseline(self._settings, one)
            asking.setdefault(settings.baseline_path, settings)
            found.setdefault(settings.baseline_path, [])
        for diagnostic in diagnostics:
            settings = with_baseline(self._settings, nested.get(diagnostic.location.path))
            found[settings.baseline_path].append(diagnostic)
        for path, own in found.items():
            if path not in self._read:
                self._read[path] = baseline_of(asking[path])
            baseline = self._read[path]
            if baseline is not None:
                yield Held(baseline, asking[path], baseline.divided(own, lines))


def with_baseline(settings: Settings, own: Settings | None) -> Settings:
    """The settings whose baseline counts for a file: its `own`, those of its sub-project, if these have one."""
    if own is None or own is settings:
        return settings
    path = own.baseline_path
    return own if own.baseline is not None or (path is not None and os.path.isfile(path)) else settings


def rewritten(
    settings: Settings,
    nested: Mapping[str, Settings],
    found: Sequence[Diagnostic],
    checked: Iterable[str],
    lines: Lines,
) -> list[Baseline]:
    """The baselines that know all findings in the files that were checked; nothing is written yet.

    Each sub-project gets its own, unless there is nothing to be known.

    Raises:
        ConfigurationError: a file that is there is no baseline.
    """
    checked = frozenset(checked)
    own: dict[str, list[Diagnostic]] = {_path_of(settings): []}
    for one in {id(one): one for one in nested.values()}.values():
        own.setdefault(_path_of(one), [])
    for diagnostic in found:
        own[_path_of(nested.get(diagnostic.location.path, settings))].append(diagnostic)
    before = {path: read_baseline(path) if os.path.exists(path) else Baseline(path) for path in own}
    return [
        before[path].replaced(diagnostics, checked, lines)
        for path, diagnostics in own.items()
        if diagnostics or before[path].entries or path == _path_of(settings)
    ]


def _path_of(settings: Settings) -> str:
    """Where a baseline is written; also settings that ask for none may be told to write one."""
    return settings.baseline_path or os.path.join(settings.root, DEFAULT_BASELINE)
