"""NST301 nondeterminism: A random number, the clock or another changing value is frozen while tracing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.captures import called, not_kept
from nonstrict.rules.effect_texts import clause, when
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the nondeterministic values that decide a result."""
    for draw in body.observed(Event.RANDOM):
        message = f"{clause(draw.effect, 'is not deterministic')} {when(body)}"
        advice = "get the value in the caller and pass it as an argument, or use torch's own random functions"
        yield report(RULE, body, draw, message, note=_fate(body), help=advice, evidence=not_kept(draw))


def _fate(body: Body) -> str:
    if body.marker == "constant-result":
        return f"the result of `{called(body)}` is frozen at the first compilation"
    if body.marker == "make-fx":
        return f"the graph that `{body.api}` makes of `{called(body)}` keeps that value for ever"
    return f"with aot_eager and inductor every later call of `{called(body)}` uses the same value"


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
    gathered="draw values or ask the clock",
    hint="drawn once",
)
