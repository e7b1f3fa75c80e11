"""What the analysis says of the regions that tests compiled."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Measured
    from nonstrict.report.compiled import RegionReport
    from nonstrict.settings.model import Settings
    from nonstrict_agent.observe.compiling import Called


def regions_of(calls: Sequence[Called]) -> list[Measured]:
    """What a test compiled, region by region; where torch was made to forget it meanwhile, the most counts."""
    from nonstrict.confirm.measuring import measured
    from nonstrict.confirm.runs.compilations import joined

    # What was compiled again came later.
    ordered = sorted(calls, key=lambda one: bool(one["compiled"]["again"]))
    eras = ([one for one in ordered if one["era"] == era] for era in sorted({one["era"] for one in calls}))
    return [
        one._replace(calls=1, backends=()) for one in joined([r for e in eras for r in measured({"calls": e}, "")], max)
    ]


def settings_of(root: str) -> Settings:
    """The settings of the project that is tested.

    Raises:
        ConfigurationError: they cannot be read.
    """
    from nonstrict.settings.load import nearest_settings
    from nonstrict.settings.model import default_settings

    return nearest_settings(root) or default_settings(root)


def checked(measured: Iterable[Measured], tests: Iterable[str], settings: Settings) -> CheckResult:
    """What the analysis says of the files of regions, and of the tests that compile them.

    Raises:
        ConfigurationError: settings select no rule, or those of a folder below cannot be read.
    """
    from nonstrict.check.run import RunOptions, check
    from nonstrict.settings.choosing import settings_below

    files = {one.path for one in measured} | set(tests)
    here = sorted(os.path.relpath(path) for path in files if os.path.isfile(path))
    return check(here, settings, RunOptions(jobs=1, fixes=None, regions=True, nested=settings_below(lambda one: one)))


def reports_of(measured: Iterable[Measured], result: CheckResult) -> tuple[RegionReport, ...]:
    """The regions, held against the findings."""
    from nonstrict.check.region_reports import region_reports

    listed = list(measured)
    functions = {one.function for one in listed}
    return region_reports(listed, result.diagnostics, (), result.read, functions, result.looked.regions)
