"""What real runs made of a finding, in words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.findings import Diagnostic, Measured, Sighting
    from nonstrict.report.record_types import RunRecord, SightingRecord

#: From so many seconds on, tenths are not told.
_WHOLE = 10
_UNITS = ((24 * 3600, "d"), (3600, "h"), (60, "min"))


def tag(sighting: Sighting) -> str:
    """The sighting in a few words: `observed`, `not observed`."""
    word = "not observed" if sighting.passed else "observed"
    return f"{word} before an edit" if sighting.stale else word


def ago(when: float, now: float | None = None) -> str:
    """How long ago something was, seen from `now` (this moment where it is None): `2 h ago`, `just now`."""
    passed = max(0.0, (time.time() if now is None else now) - when)
    for seconds, unit in _UNITS:
        if passed >= seconds:
            return f"{int(passed // seconds)} {unit} ago"
    return "just now"


def date(when: float) -> str:
    """When something was, for what is read later: `of 2026-01-31 15:04 UTC`."""
    return time.strftime("of %Y-%m-%d %H:%M UTC", time.gmtime(when))


def sentence(diagnostic: Diagnostic, told: Callable[[float], str] = ago) -> str:
    """The sighting of a diagnostic in one line, `told` saying when it was; empty if it has none."""
    sighting = diagnostic.sighting
    if sighting is None:
        return ""
    when = told(sighting.when)
    if sighting.passed:
        return f"not observed: a run {when} compiled `{diagnostic.function}`, and torch did not do this"
    counts = [_counted(sighting.recompilations, "recompilation")] if sighting.recompilations else []
    counts += [_seconds(sighting.seconds)] if sighting.recompilations else []
    head = ", ".join((f"observed {when}", *counts))
    before = ", before the code was edited" if sighting.stale else ""
    if diagnostic.observed:
        return f"{head}{before}"  # it is itself what torch told
    after = "; the function fell back to eager" if sighting.gives_up else ""
    return f"{head}{before}: {sighting.reason}{after}"


def ran(measured: Measured, when: float, told: Callable[[float], str] = ago) -> str:
    """What a run made of a region, in one line: `in a run 2 h ago: 2 graphs, 1 break, compiled in 12 s`."""
    parts = [_counted(len(measured.graphs), "graph") if measured.graphs else "no graph"]
    again = sum(one.times for one in measured.again)
    parts += [_counted(len(measured.breaks), "break")] if measured.breaks else []
    parts += [_counted(again, "recompilation")] if again else []
    parts += [f"compiled in {_seconds(measured.seconds)}"]
    parts += [f"then given up: {one.guard}" for one in measured.again if one.limit]
    parts += [f"falls back to eager: {one.text}" for one in measured.fallbacks]
    parts += [measured.skipped] if measured.skipped else []
    return f"in a run {told(when)}: {', '.join(parts)}"


def last_run(measured: Measured, when: float) -> str:
    """The same for a line above the function: `last run 2 h ago: 7 graphs · 6 recompilations · 7.1 s compiling`."""
    again = sum(one.times for one in measured.again)
    graphs = len(measured.graphs) + measured.later
    parts = [_counted(graphs, "graph") if graphs else "no graph"]
    parts += [_counted(len(measured.breaks), "break")] if measured.breaks else []
    parts += [_counted(again, "recompilation")] if again else []
    parts += [f"{_seconds(measured.seconds)} compiling"]
    left = measured.fallbacks or any(one.limit for one in measured.again)
    parts += ["falls back to eager"] if left else []
    return f"last run {ago(when)}: {' · '.join(parts)}"


def compared(diagnostic: Diagnostic) -> str:
    """What a run made of what the analysis predicts: `predicted and observed 2 h ago: ...`; empty if none was kept."""
    told = sentence(diagnostic)
    if not told or diagnostic.observed:
        return told
    passed = diagnostic.sighting is not None and diagnostic.sighting.passed
    return f"predicted, {told}" if passed else f"predicted and {told}"


def ran_record(measured: Measured, when: float) -> RunRecord:
    """What a run made of a region, as a JSON object."""
    return {
        "when": _stamp(when),
        "graphs": [{"operators": count} for count in measured.graphs],
        "later_graphs": measured.later,
        "breaks": [{"row": one.lines[-1].line, "type": one.type, "id": one.id or None} for one in measured.breaks],
        "recompilations": [
            {"row": one.lines[-1].line, "times": one.times, "guard": one.guard, "gave_up": one.limit}
            for one in measured.again
        ],
        "fall_backs": [{"after": one.at or None, "type": one.type, "id": one.id or None} for one in measured.fallbacks],
        "seconds": round(measured.seconds, 3),
        "error": measured.skipped or None,
    }


def sighting_record(sighting: Sighting) -> SightingRecord:
    """The sighting as a JSON object."""
    return {
        "when": _stamp(sighting.when),
        "happened": not sighting.passed,
        "recompilations": sighting.recompilations,
        "seconds": round(sighting.seconds, 3),
        "gave_up": sighting.gives_up,
        "reason": sighting.reason or None,
        "stale": sighting.stale,
    }


def _counted(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _seconds(seconds: float) -> str:
    return f"{seconds:.{0 if seconds >= _WHOLE else 1}f} s"


def _stamp(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
