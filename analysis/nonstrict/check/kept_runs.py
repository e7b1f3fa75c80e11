"""What real runs did that are kept with a project (`nonstrict record`, `nonstrict import`), for a result."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic, Measured
    from nonstrict.settings.model import Settings


def runs_of(settings: Settings, nested: Mapping[str, Settings]) -> dict[tuple[str, str], tuple[float, Measured]]:
    """When a real run compiled a function last, and what came of it, where it was not edited: by path and name.

    `nested` are the settings of files of sub-projects, which may keep runs as well.
    """
    found: dict[tuple[str, str], tuple[float, Measured]] = {}
    for root in _with_runs(settings, nested):
        from nonstrict.confirm.runs.places import Project
        from nonstrict.confirm.runs.store import ran

        for one in ran(Project(root), time.time()):
            key = one.region.path, one.region.function
            if not one.stale and (key not in found or found[key][0] < one.when):
                found[key] = one.when, one.region
    return found


def sightings(result: CheckResult, known: Sequence[Diagnostic], settings: Settings) -> CheckResult:
    """A result with what runs did that are kept with a project; `known` are findings that are not shown."""
    for root in _with_runs(settings, result.nested):
        from nonstrict.check.diagnostics import Presenter
        from nonstrict.check.observed import Reported
        from nonstrict.check.sightings import sighted
        from nonstrict.confirm.runs.places import Project
        from nonstrict.confirm.runs.store import ran

        project = Project(root)
        reported = Reported(result.diagnostics, result.read, Presenter(settings, result.nested))
        shown = sighted(reported, known, result.checked, ran(project, time.time()), project)
        result = result._replace(diagnostics=shown)
    return result


def _with_runs(settings: Settings, nested: Mapping[str, Settings]) -> list[str]:
    """The roots of projects with which runs are kept."""
    from nonstrict.confirm.runs.store import DIRECTORY

    roots = dict.fromkeys((settings.root, *(one.root for one in nested.values())))
    return [root for root in roots if os.path.isdir(os.path.join(root, DIRECTORY))]
