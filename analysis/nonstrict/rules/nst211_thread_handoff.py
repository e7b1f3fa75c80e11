"""NST211 thread-handoff: A traced function hands tensor work to another thread or process, where it is not traced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import clause
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the work that is handed to another thread or process."""
    for seen in body.observed(Event.THREAD):
        message = clause(seen.effect, "hands work to another thread or process")
        note = f"`{body.api}` does not trace tensor work there: torch.compile fails or loses it"
        advice = "do the work in the function itself, or in the caller of the compiled region"
        yield report(RULE, body, seen, message, note=note, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Do the work where it was handed over, or let the callers hand it over."""
    from nonstrict.fixes.effects.executors import call_here
    from nonstrict.fixes.effects.moving import move_call
    from nonstrict.fixes.effects.threads import run_here

    yield from call_here(context)
    yield from run_here(context)
    yield from move_call(context)


RULE = Rule(
    code="NST211",
    name="thread-handoff",
    severity=Severity.ERROR,
    summary="A traced function hands tensor work to another thread or process, where it is not traced.",
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.REFUSAL),
)
