"""What a session of tests comes to: the regions that were compiled beside what the analysis says of them."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.budgets import base_of, budget_of, figures, followed, held
from nonstrict.confirm.recorded import plain_name
from nonstrict.confirm.runs.compilations import Observed, joined
from nonstrict.report.budget import line_of
from nonstrict.report.compiled import text_of
from nonstrict.report.summary import plural
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.projects import Projects
from nonstrict_pytest.findings import checked, regions_of, reports_of, settings_of
from nonstrict_pytest.listening import torch_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.coverage import Looked
    from nonstrict.findings import Measured
    from nonstrict.report.compiled import RegionReport
    from nonstrict.settings.model import Settings
    from nonstrict_agent.observe.compiling import Called


class Outcome(NamedTuple):
    """What is told at the end, and whether the session fails."""

    lines: tuple[str, ...]
    fails: bool = False


def outcome_of(tests: Sequence[tuple[str, list[Called]]], root: str) -> Outcome:
    """What tests compiled, each given as its file and what it did, held against findings and budget."""
    by_test = [regions_of(calls) for _, calls in tests]
    regions = joined([one for found in by_test for one in found], max)
    if not regions:
        return Outcome(("No test compiled anything.",))
    times = Counter((one.function, one.path, one.line) for found in by_test for one in found)
    try:
        settings = settings_of(root)
        result = checked(regions, {path for path, calls in tests if calls}, settings)
    except ConfigurationError as error:
        return Outcome((str(error),), fails=True)
    reports = reports_of(regions, result)
    lines = [line for one in reports for line in _told(one, times[_key(one)]).splitlines()]
    over = list(_over_budget(regions, result.looked, Projects(settings, result.nested).absolute()))
    told = (*lines, *_counts(reports, len(by_test)), *_kept(regions, settings), *over)
    return Outcome(told, fails=bool(over))


def _over_budget(regions: Sequence[Measured], looked: Looked, projects: Projects) -> Iterator[str]:
    """The numbers of regions that exceed the budget of their project."""
    now = time.time()
    known = figures(looked.regions, ((now, one) for one in regions))
    budget = followed(known, budget_of(projects), partial(base_of, projects))
    exceeded = [one for one in held(known, budget) if one.known and one.known.is_measured and one.exceeds]
    if exceeded:
        yield "Over the budget:"
    yield from (f"  {line_of(one, now)}" for one in exceeded)


def _told(report: RegionReport, tests: int) -> str:
    """A region; in one line if all is as it should be."""
    measured = report.measured
    if report.breaks or measured.again or measured.fallbacks or report.unseen or not measured.graphs:
        return text_of(report, tests)
    where = f"{report.location.path}:{report.location.row}"
    return f"`{measured.function}` ({where}), {plural(tests, 'test')}: {plural(len(measured.graphs), 'graph')}"


def _key(report: RegionReport) -> tuple[str, str, int]:
    measured = report.measured
    return measured.function, measured.path, measured.line


def _counts(reports: Sequence[RegionReport], tests: int) -> Iterator[str]:
    breaks = [seen for one in reports for seen in one.breaks]
    observed = sum(not seen.is_foretold for seen in breaks)
    unforetold = f" ({observed} predicted by no finding)" if observed else ""
    again = sum(again.times for one in reports for again in one.measured.again)
    counts = f"{plural(len(breaks), 'break')}{unforetold}, {plural(again, 'recompilation')}"
    yield f"{plural(len(reports), 'region')} in {plural(tests, 'test')}: {counts}."


def _kept(regions: Sequence[Measured], settings: Settings) -> Iterator[str]:
    """Keep what was compiled with the project, and say so."""
    from nonstrict.confirm.runs.places import Project
    from nonstrict.confirm.runs.store import keep

    now = time.time()
    plain = tuple(one._replace(function=plain_name(one.function)) for one in regions)
    try:
        keep(Observed(plain, now, torch_version(), 0, frozenset()), Project(settings.root), now)
    except OSError as error:
        yield f"What was compiled was not recorded: {error.filename}: {error.strerror or error}"
