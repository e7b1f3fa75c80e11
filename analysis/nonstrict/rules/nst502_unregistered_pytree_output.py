"""NST502 unregistered-pytree-output: A marked function returns a value of a type that torch does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Taken
from nonstrict.findings import Applicability, Severity
from nonstrict.program.contracts.boundary.pytree_support import Crossing
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment, Refusal, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryResult
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the results of refused types."""
    for result in body.boundary_results:
        refused = result.refused
        if refused is None or (refused.crossing is Crossing.NUMPY and _escapes(body)):
            continue
        if result.implicit and body.applied.is_left_to_subclasses:
            continue
        severity = Severity.WARNING if result.maybe else None
        until = "before torch 2.15, " if refused.crossing is Crossing.NOTHING else ""
        note = f"{until}torch.compile refuses it as a result"
        message = _message(body, result)
        yield report_at(RULE, body, result.span, message, note=note, help=refused.advice, severity=severity)


def _escapes(body: Body) -> bool:
    """Whether the body hands a tensor to NumPy: that fails before, and is told of there."""
    return any(seen.effect.how is Taken.ARRAY for seen in body.observed(Event.ESCAPE, Event.NATIVE))


def _message(body: Body, result: BoundaryResult) -> str:
    name = called(body)
    if result.implicit:
        how = "may end" if result.maybe else "ends"
        return f"`{name}` {how} without a `return`, which gives None"
    return f"`{name}` returns {result.refused.what if result.refused is not None else ''}"


def fixes(context: Context) -> Iterator[Fix]:
    """Return the tensor that is changed, register the class, or use a marker that takes the result."""
    from nonstrict.fixes.boundary.crossing import drop_none, name_outside, return_the_tensor
    from nonstrict.fixes.boundary.registering import register_result
    from nonstrict.fixes.marks.markers import replace_refusing

    yield from return_the_tensor(context)
    yield from drop_none(context)
    yield from name_outside(context)
    yield from replace_refusing(context)
    yield from register_result(context)


RULE = Rule(
    code="NST502",
    name="unregistered-pytree-output",
    severity=Severity.ERROR,
    summary="A marked function returns a value of a type that torch does not take.",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, refusals=frozenset({Refusal.RESULT_TYPE}), traits=Trait.OF_RESULTS),
)
