"""NST203 outer-mutation.

A traced function writes Python state outside of it, which happens while tracing and never again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.effect_texts import captured, deed, effect_severity, repetition, when
from nonstrict.rules.expectation import OF_LEAKS, Expectation, Experiment
from nonstrict.rules.stores import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the writes to captured Python state outside hooks."""
    for seen in changes(body, Event.WRITE):
        effect = seen.effect
        if seen.in_hook or not effect.place.captured:
            continue
        message = f"{deed(effect, captured(effect))} happens {when(body)}"
        advice = "return the new value and store it in the compiled region or its caller"
        # What is set once, behind a test whether it is set, is the same however often that happens.
        severity = Severity.NOTE if effect.lazy else effect_severity(RULE, body)
        yield report(RULE, body, seen, message, note=repetition(body), help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Return what is new, so that the callers store it."""
    from nonstrict.fixes.effects.returning import return_value

    yield from return_value(context)


RULE = Rule(
    code="NST203",
    name="outer-mutation",
    severity=Severity.ERROR,
    summary="A traced function writes Python state outside of it, which happens while tracing and never again.",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.EFFECT, refusals=OF_LEAKS),
    gathered="change state outside of it",
)
