"""NST107 marked-function-rebinding.

A call in a region may reach one of several marked functions, which Dynamo cannot tell apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls in regions that may reach one of several marked functions."""
    for dispatch in body.dispatches:
        note = (
            f"Dynamo cannot tell functions marked with `{body.api}` apart: the region compiled for the first one runs "
            "for the others, on every backend"
        )
        advice = "mark one function and pass the choice as an argument, or choose outside the compiled region"
        yield report_at(RULE, body, dispatch.span, dispatch.message, note=note, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Mark at the call what is called, or pass what the functions of a factory or of instances differ in."""
    from nonstrict.fixes.captures.enclosed import pass_enclosed
    from nonstrict.fixes.captures.instances import share_between_instances
    from nonstrict.fixes.marks.dispatching import mark_at_call

    yield from mark_at_call(context)
    yield from pass_enclosed(context)
    yield from share_between_instances(context)


RULE = Rule(
    code="NST107",
    name="marked-function-rebinding",
    severity=Severity.WARNING,
    summary="A call in a region may reach one of several marked functions, which Dynamo cannot tell apart.",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.CHANGE),
)
