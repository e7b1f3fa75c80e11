"""What an experiment saw of compiled regions, held against the findings that say where they break."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.check.observed import lines_of, location_of
from nonstrict.findings import Line, Status
from nonstrict.report.compiled import RegionReport, SeenBreak
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nonstrict.coverage import Region
    from nonstrict.findings import Break, Diagnostic, Measured
    from nonstrict.text.source import Source


def region_reports(
    measured: Iterable[Measured],
    diagnostics: Sequence[Diagnostic],
    others: Sequence[Diagnostic],
    sources: Mapping[str, Source],
    functions: Collection[str],
    predicted: Sequence[Region] = (),
) -> tuple[RegionReport, ...]:
    """The reports on the regions that are these `functions`.

    `others` are findings that are told of another region, and may be about code that both lead to. `predicted` is what
    the analysis says of regions.
    """
    texts = dict(sources)
    known = (*diagnostics, *others)
    own = (one for one in measured if one.function in functions)
    return tuple(_report(one, _predicted(one, predicted), known, texts) for one in own)


def _is_about(diagnostic: Diagnostic, experiment: Experiment) -> bool:
    rule = RULES.get(diagnostic.code)
    return rule is not None and rule.experiment is experiment


def _predicted(measured: Measured, regions: Iterable[Region]) -> Region | None:
    """What the analysis says of a region: cells and branches define a function of one name again and again."""
    found: dict[int, Region] = {}
    for one in regions:
        where = one.defined
        if where is not None and (os.path.abspath(where.path), one.function) == (measured.path, measured.function):
            found.setdefault(where.line - measured.line, one)
    # Code begins at the decorators, a definition behind them.
    return found[min(behind)] if (behind := [lines for lines in found if lines >= 0]) else None


def _report(
    measured: Measured, predicted: Region | None, known: Sequence[Diagnostic], texts: dict[str, Source]
) -> RegionReport:
    seen = tuple(_seen(one, known, texts) for one in measured.breaks)
    breaking = [one for one in known if _is_about(one, Experiment.BREAK)]
    named = [one.finding for one in seen if one.finding is not None and not one.finding.observed]
    own = [one for one in breaking if one.function == measured.function and not one.observed]
    foretold = tuple(dict.fromkeys((*own, *named)))
    unseen = tuple(one for one in foretold if one not in named and not _is_confirmed(one))
    where = location_of(Line(measured.path, measured.line), texts)
    limited = any(_is_about(one, Experiment.LIMIT) and one.function == measured.function for one in known)
    return RegionReport(measured, predicted, where, seen, foretold, unseen, limited)


def _seen(broken: Break, known: Sequence[Diagnostic], texts: dict[str, Source]) -> SeenBreak:
    return SeenBreak(broken, location_of(broken.lines[-1], texts), _naming(broken, known, texts))


def _is_confirmed(one: Diagnostic) -> bool:
    return one.verdict is not None and one.verdict.status is Status.CONFIRMED


def _naming(broken: Break, known: Sequence[Diagnostic], texts: dict[str, Source]) -> Diagnostic | None:
    """The finding about a break on its line, else what explains it there; that at its column, if there are several."""
    where = broken.lines[-1]
    on_line = [one for one in known if (os.path.abspath(where.path), where.line) in lines_of(one, texts)]
    about = [one for one in on_line if _is_about(one, Experiment.BREAK)] or (on_line if broken.explained else [])
    place = location_of(where, texts)
    return min(about, key=lambda one: abs(one.location.column - place.column), default=None)
