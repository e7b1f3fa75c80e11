"""NST301 nondeterminism: A random number, the clock or another changing value is frozen while tracing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.captures import called, not_kept
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the nondeterministic values that decide a result."""
    for draw in body.observed(Event.RANDOM):
        message = f"`{called(body)}` {draw.effect.what}, which {_fate(body)}"
        advice = "draw in the caller and pass the value as an argument, or use torch's own random functions"
        yield report(RULE, body, draw, message, help=advice, evidence=not_kept(draw))


def _fate(body: Body) -> str:
    if body.marker == "constant-result":
        return "happens once: its result is frozen at the first compilation"
    if body.marker == "make-fx":
        return "happens while tracing: the graph keeps that value for ever"
    return "happens while tracing only: with aot_eager and inductor every later call uses the same value"


def fixes(context: Context) -> Iterator[Fix]:
    """Draw in the callers and pass what was drawn."""
    from nonstrict.fixes.captures.hoisting import hoist

    yield from hoist(context)


RULE = Rule(
    code="NST301",
    name="nondeterminism",
    severity=Severity.ERROR,
    summary="A random number, the clock or another changing value is frozen while tracing.",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.DRAW),
    gathered="draw values or ask the clock: its result is frozen at the first compilation",
    hint="drawn once",
)
