"""The baselines of a run: the one of its settings, and those of sub-projects for their files.

A sub-project that has none of its own is known by that of the run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.baseline import Baseline, baseline_of, read_baseline
from nonstrict.settings.model import DEFAULT_BASELINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.check.baseline import Divided
    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Lines
    from nonstrict.settings.model import Settings
    from nonstrict.settings.projects import Projects


class Held(NamedTuple):
    """A baseline, and how it divides the diagnostics of its files."""

    baseline: Baseline
    divided: Divided


class Baselines:
    """What is known, in files that are read once."""

    def __init__(self, settings: Settings) -> None:
        """Read that of a run.

        Raises:
            ConfigurationError: it was named and is not there, or is not a baseline.
        """
        self._read: dict[str | None, Baseline | None] = {_place(settings): baseline_of(settings)}

    def held(self, diagnostics: Sequence[Diagnostic], projects: Projects, lines: Lines) -> Iterator[Held]:
        """Hold diagnostics, all of each file, against the baselines of some projects.

        Raises:
            ConfigurationError: one of a sub-project was named and is not there, or is not a baseline.
        """
        asking: dict[str | None, Settings] = {}
        found: dict[str | None, list[Diagnostic]] = {}
        for one in projects.every:
            settings = _asking(projects, one)
            asking.setdefault(_place(settings), settings)
            found.setdefault(_place(settings), [])
        for diagnostic in diagnostics:
            found[_place(with_baseline(projects, diagnostic.location.path))].append(diagnostic)
        for place, own in found.items():
            if place not in self._read:
                self._read[place] = baseline_of(asking[place])
            baseline = self._read[place]
            if baseline is not None:
                yield Held(baseline, baseline.divided(own, lines))


def with_baseline(projects: Projects, path: str) -> Settings:
    """The settings whose baseline counts for a file: those of its project, if that has one, else those of the run."""
    return _asking(projects, projects.of(path))


def _asking(projects: Projects, own: Settings) -> Settings:
    path = own.baseline_path
    has_one = own.baseline is not None or (path is not None and os.path.isfile(path))
    return own if has_one else projects.main


def _place(settings: Settings) -> str | None:
    """What tells a baseline from others, whatever name a project calls it by."""
    return os.path.realpath(settings.baseline_path) if settings.baseline_path is not None else None


def rewritten(projects: Projects, found: Sequence[Diagnostic], checked: Iterable[str], lines: Lines) -> list[Baseline]:
    """The baselines that know all findings in the files that were checked; nothing is written yet.

    Each project gets its own, unless there is nothing to be known, or that of the run knows files of it that were not
    checked: what is known of them would not count any more.

    Raises:
        ConfigurationError: a file that is there is no baseline.
    """
    checked = frozenset(checked)
    before: dict[str, Baseline] = {}
    places: dict[int, str] = {}
    for one in projects.every:
        path = _path_of(one)
        place = os.path.realpath(path)
        if place not in before:
            begun = read_baseline(path) if os.path.exists(path) else None
            if begun is None and before and _knows_more(before[places[id(projects.main)]], one, checked):
                place = places[id(projects.main)]
            else:
                before[place] = begun or Baseline(path)
        places[id(one)] = place
    own: dict[str, list[Diagnostic]] = {place: [] for place in before}
    for diagnostic in found:
        own[places[id(projects.of(diagnostic.location.path))]].append(diagnostic)
    return [
        before[place].replaced(diagnostics, checked, lines)
        for place, diagnostics in own.items()
        if diagnostics or before[place].entries or place == places[id(projects.main)]
    ]


def _knows_more(baseline: Baseline, project: Settings, checked: frozenset[str]) -> bool:
    """Whether a baseline holds findings of files of a project that are there and were not checked."""
    looked_at = {os.path.realpath(path) for path in checked}
    below = os.path.join(os.path.realpath(project.root), "")
    known = {os.path.realpath(baseline.absolute(entry.path)) for entry in baseline.entries}
    return any(path.startswith(below) and path not in looked_at and os.path.exists(path) for path in known)


def _path_of(settings: Settings) -> str:
    """Where a baseline is written; also settings that ask for none may be told to write one."""
    return settings.baseline_path or os.path.join(settings.root, DEFAULT_BASELINE)
