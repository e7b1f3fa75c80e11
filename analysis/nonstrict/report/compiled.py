"""Compiled regions as an experiment saw them: graphs, breaks and fall-backs, against what findings foretell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Status
from nonstrict.report.records import place_record
from nonstrict.report.style import one_line, shown_position
from nonstrict.report.summary import plural
from nonstrict.report.verdicts import reason_of, tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.coverage import Region
    from nonstrict.findings import Break, Diagnostic, FallBack, Location, Measured
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import MeasuredRegionRecord, NotSeenRecord, SeenBreakRecord


class SeenBreak(NamedTuple):
    """A break that torch told, and the finding that names it, predicted or made of it; None where none is shown."""

    broken: Break
    location: Location
    finding: Diagnostic | None

    @property
    def is_foretold(self) -> bool:
        """Whether a rule named it before it was seen."""
        return self.finding is not None and not self.finding.observed


class RegionReport(NamedTuple):
    """What was seen of a region, what the analysis says of it, and the findings that say where it breaks.

    `unseen` are those of them that were not seen. With `limited`, a finding says that torch gives the region up for
    what varies.
    """

    measured: Measured
    predicted: Region | None
    location: Location
    breaks: tuple[SeenBreak, ...]
    foretold: tuple[Diagnostic, ...]
    unseen: tuple[Diagnostic, ...]
    limited: bool = False

    @property
    def graphs(self) -> tuple[int, int] | None:
        """The least and greatest number of graphs that the analysis says, if it says any."""
        return self.predicted.foretold if self.predicted is not None else None

    @property
    def left(self) -> frozenset[str]:
        """The functions that the analysis says torch leaves to plain Python."""
        parts = self.predicted.parts if self.predicted is not None else ()
        gives_up = self.limited or any(one.gives_up for one in self.foretold)
        found = {self.measured.function} if gives_up else set[str]()
        return frozenset(found | {one.function for one in parts if one.kind == "eager"})


def text_of(report: RegionReport, tests: int = 0) -> str:
    """The report for people: of an experiment, or of so many `tests`."""
    measured = report.measured
    place = report.location
    cell = f"cell {place.cell}:" if place.cell is not None else ""
    where = f"{one_line(place.path)}:{cell}{place.row}"
    of_calls = f"{plural(measured.calls, 'call')} on {' and '.join(measured.backends)}"
    lines = [f"`{measured.function}` ({where}), {plural(tests, 'test') if tests else of_calls}:"]
    parts = (_graphs(report), *_breaks(report), *_again(report), *_fall_backs(report), *_unseen(report, tests))
    lines += [f"  {line}" for line in parts]
    return "".join(f"{line}\n" for line in lines)


def _graphs(report: RegionReport) -> str:
    measured = report.measured
    later = f", {measured.later} more in later calls" if measured.later else ""
    told = f"graphs: {len(measured.graphs) or 'none'}{_how_many_foretold(report)}"
    if not measured.graphs:
        why = "" if measured.breaks or not measured.skipped else f": {measured.skipped}"
        return f"{told}{later}{why}"
    sizes = ", ".join(map(str, measured.graphs))
    return f"{told} (operators: {sizes}){later}"


def _how_many_foretold(report: RegionReport) -> str:
    if report.graphs is None:
        return ""
    least, most = report.graphs
    if least == most == len(report.measured.graphs):
        return ", as predicted"
    return f", predicted {f'{least} to {most}' if least != most else most or 'none'}"


def _breaks(report: RegionReport) -> Iterator[str]:
    if not report.breaks:
        yield "breaks: none"
        return
    yield "breaks:"
    for number, seen in enumerate(report.breaks, 1):
        where = seen.location
        position = shown_position(where.path, where.row, where.column, where.cell)
        yield f"  {number}. {position}: {seen.broken.text}: {_how_foretold(seen)}"


def _again(report: RegionReport) -> Iterator[str]:
    for one in report.measured.again:
        end = ", then given up" if one.limit else ""
        yield f"recompiled {plural(one.times, 'time')}{end}: the last guard that failed: {one_line(one.guard)}"


def _how_foretold(seen: SeenBreak) -> str:
    if seen.finding is None:
        if seen.broken.fails_in_eager:
            return "eager code raises there too"
        return "explained by a finding elsewhere" if seen.broken.explained else "observed"
    return f"{'predicted' if seen.is_foretold else 'observed'} ({seen.finding.code})"


def _fall_backs(report: RegionReport) -> Iterator[str]:
    left = report.measured.fallbacks
    if not left:
        foretold = report.left and report.breaks
        yield "falls back to eager: no" + (", although predicted" if foretold else "")
    for one in left:
        how = "predicted" if one.function in report.left else "not predicted"
        yield f"falls back to eager: {_told(one)} ({how})"


def _told(left: FallBack) -> str:
    what = "the rest" if left.rest else "all"
    where = f", after the break on line {left.at}" if left.at else ""
    return f"{what} of `{left.function}`{where}: {left.text}"


def _unseen(report: RegionReport, tests: int) -> Iterator[str]:
    for one in report.unseen:
        where = one.location
        position = shown_position(where.path, where.row, where.column, where.cell)
        why = "no test leads there, or torch goes through" if tests else _why_unseen(one)
        yield f"predicted and not seen: {position}: {one.code}: {why}"


def _why_unseen(one: Diagnostic) -> str:
    verdict = one.verdict
    if verdict is None:
        return "it was not tried"
    if verdict.status is Status.REFUTED:
        return "refuted, torch goes through"
    if verdict.status is Status.INCONCLUSIVE:
        reason = reason_of(verdict).sentence.format(function=f"`{one.function}`")
        return f"{reason} ({verdict.evidence})" if verdict.evidence else reason
    return verdict.evidence


def record_of(report: RegionReport, context: Context) -> MeasuredRegionRecord:
    """The report as a JSON object."""
    measured = report.measured
    return {
        "function": measured.function,
        "filename": context.absolute(report.location.path),
        "cell": report.location.cell,
        "row": report.location.row,
        "calls": measured.calls,
        "backends": list(measured.backends),
        "graphs": [{"operators": count} for count in measured.graphs],
        "later_graphs": measured.later,
        "skipped": measured.skipped or None,
        "breaks": [_break_record(seen, context) for seen in report.breaks],
        "recompilations": [
            {"row": one.lines[-1].line, "times": one.times, "guard": one.guard, "gave_up": one.limit}
            for one in measured.again
        ],
        "fall_backs": [
            {
                "function": left.function,
                "filename": context.absolute(left.path),
                "row": left.line,
                "rest": left.rest,
                "after": left.at or None,
                "type": left.type,
                "id": left.id or None,
            }
            for left in measured.fallbacks
        ],
        "predicted": {
            "breaks": len(report.foretold),
            "fall_back": measured.function in report.left,
            "graphs": list(report.graphs) if report.graphs is not None else None,
        },
        "not_seen": [_unseen_record(one, context) for one in report.unseen],
    }


def _break_record(seen: SeenBreak, context: Context) -> SeenBreakRecord:
    return {
        **place_record(seen.location, context),
        "type": seen.broken.type,
        "id": seen.broken.id or None,
        "explanation": seen.broken.told or None,
        "raises": seen.broken.raises,
        "predicted": seen.is_foretold,
        "code": seen.finding.code if seen.finding is not None else None,
        "stack": [{"filename": context.absolute(line.path), "row": line.line} for line in seen.broken.lines],
    }


def _unseen_record(one: Diagnostic, context: Context) -> NotSeenRecord:
    told = tag(one.verdict) if one.verdict is not None else None
    return {**place_record(one.location, context), "code": one.code, "verdict": told, "why": _why_unseen(one)}


def texts_of(reports: Sequence[RegionReport]) -> str:
    """Several reports, a blank line before each."""
    return "".join(f"\n{text_of(report)}" for report in reports)
