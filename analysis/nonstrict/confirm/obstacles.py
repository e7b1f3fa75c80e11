"""Errors of compiled code that stand in the way of findings, where no finding says what torch refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.belonging import region_of
from nonstrict.confirm.traces import cause_of
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect

#: What stands in the place of a rule's code.
_CODE = "what torch refuses"


def obstacles(
    eager: Mapping[str, Any],
    traces: Sequence[Mapping[str, Any]],
    suspect: Suspect,
    suspects: Sequence[Suspect],
    regions: Collection[tuple[str, int]] = (),
) -> list[Suspect]:
    """The expressions that compiled code raised an error in and no finding is about, as if they were findings.

    With `regions`, by name and first line, those in calls of other ones are none. They are no findings that are judged:
    their numbers are negative.
    """
    known = frozenset[tuple[str, int]]().union(*(one.places for one in suspects if not one.is_probe))
    found: dict[tuple[str, int], Suspect] = {}
    for error in (error for trace in traces for error in _errors(eager, trace, regions)):
        cause = cause_of(error)
        place = cause.lines[-1] if cause.lines else None
        if place is None or place in known or place in found:
            continue
        span = cause.span
        lines = range(span.line, span.end_line + 1) if span is not None else (place[1],)
        found[place] = suspect._replace(
            number=-1 - len(found),
            code=_CODE,
            expectation=Expectation(Experiment.REFUSAL),
            path=place[0],
            lines=frozenset(lines),
            column=span.column if span is not None else -1,
            end_column=span.end_column if span is not None else -1,
            subject=None,
            fixes=(),
        )
    return list(found.values())


def _errors(
    eager: Mapping[str, Any], trace: Mapping[str, Any], regions: Collection[tuple[str, int]]
) -> Iterator[Mapping[str, Any]]:
    """The errors of calls that eager code makes without one."""
    for left, right in zip(eager["calls"], trace.get("calls", ()), strict=False):
        if "error" in right and "error" not in left and (not regions or region_of(left) in regions):
            yield right["error"]
