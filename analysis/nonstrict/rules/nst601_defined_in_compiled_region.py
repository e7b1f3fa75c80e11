"""NST601 defined-in-compiled-region: A marker is applied inside a compiled region, where Dynamo refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Severity
from nonstrict.knowledge.markers import MARKERS
from nonstrict.rules import refused_targets
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait
from nonstrict.rules.refused_targets import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the markers that a region applies and Dynamo refuses."""
    for seen in body.observed(Event.MARKS):
        marker = MARKERS[seen.effect.what]
        api = seen.effect.what.rpartition(".")[2]
        if marker.kind == "make-fx":
            continue
        if marker.kind == "nonstrict":
            refused = refused_targets.refused(seen.effect.value, body.torch)
            if refused is None:
                continue
            message = f"`{api}` is applied to {refused.text} inside a compiled region"
        else:
            refused = LOCAL
            message = f"`{api}` is called inside a compiled region"
        falls_back = not body.fullgraph and refused.breaks
        severity = Severity.NOTE if falls_back else Severity.ERROR
        fate = "it silently runs in eager mode from here on" if falls_back else "compilation fails"
        note = f"Dynamo refuses it while it traces `{body.function}`: {fate}"
        advice = "apply the marker outside the compiled region, to a function at module level"
        yield report(RULE, body, seen, message, note=note, help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Apply the marker outside the region."""
    from nonstrict.fixes.marks.outside import move_marker

    yield from move_marker(context)


RULE = Rule(
    code="NST601",
    name="defined-in-compiled-region",
    severity=Severity.ERROR,
    summary="A marker is applied inside a compiled region, where Dynamo refuses it.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.IN_MARKERS),
)
