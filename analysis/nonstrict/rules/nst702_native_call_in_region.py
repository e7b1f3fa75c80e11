"""NST702 native-call-in-region: A compiled region calls compiled code outside torch, which breaks its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Construct, Event
from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.costs import outcome
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls into compiled code."""
    for seen in body.observed(Event.BREAK):
        if seen.effect.how is not Construct.NATIVE or seen.in_hook:
            continue
        message = f"`{seen.effect.what}` is compiled code, which breaks the graph"
        conditional = seen.effect.conditional or any(edge.conditional for edge in seen.chain)
        hidden = body.hidden_behind(seen)
        severity = None if body.refusal(seen) else Severity.NOTE if conditional or hidden else Severity.WARNING
        advice = "wrap the call in a `torch.library.custom_op` with a `register_fake`"
        yield report(RULE, body, seen, message, note=outcome(body, seen), help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function around the call, or of the call."""
    from nonstrict.fixes.operators.extracting import as_operator
    from nonstrict.fixes.operators.wrapping import as_custom_op

    found = list(as_custom_op(context))
    yield from found or as_operator(context)


RULE = Rule(
    code="NST702",
    name="native-call-in-region",
    severity=Severity.ERROR,
    summary="A compiled region calls compiled code outside torch, which breaks its graph.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.BREAK),
)
