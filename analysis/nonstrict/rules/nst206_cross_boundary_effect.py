"""NST206 cross-boundary-effect.

A region and a marked function that it calls pass state to each other behind the compiler's back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import TRACED, Rule, report
from nonstrict.rules.captures import called, reads_metadata
from nonstrict.rules.expectation import OF_CAPTURES, OF_LEAKS, Expectation, Experiment, Refusal, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


#: Markers of functions that the compiled code runs, before it applies what the region wrote in Python.
_RUN = frozenset({"leaf", "custom-op"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield reads of what the region wrote before the call, and changes of what it reads afterwards."""
    for seen in body.observed(Event.READ, Event.ATTRIBUTE, Event.MODE):
        place = seen.effect.place
        if seen.effect.event is Event.MODE:
            place = place.step(".training")
        if reads_metadata(seen):
            continue  # changes in place keep it
        evidence = body.written_by_region(place) if place.captured or place.path else ()
        if evidence:
            message = f"`{place.text}` is stale here: the region writes it before it calls `{called(body)}`"
            note = "the write happens after the compiled code has run, so this reads what was there before"
            advice = f"pass `{place.text}` as an argument"
            yield report(RULE, body, seen, message, note=note, help=advice, evidence=evidence)
    for seen in body.observed(Event.WRITE):
        evidence = body.read_by_region(seen.effect)
        if evidence:
            name = seen.effect.place.text
            runs = body.marker in _RUN
            message = f"`{name}` changes here, and the region that calls `{called(body)}` reads it"
            note = "the region read it while it was traced" if runs else "compiled calls no longer change it"
            advice = "return what the region needs"
            yield report(RULE, body, seen, message, note=note, help=advice, evidence=evidence)


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument; the fake of a function that runs would need it too."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute

    if context.body.marker not in _RUN:
        yield from pass_captured(context)
        yield from pass_attribute(context)


RULE = Rule(
    code="NST206",
    name="cross-boundary-effect",
    severity=Severity.ERROR,
    summary="A region and a marked function that it calls pass state to each other behind the compiler's back.",
    markers=(TRACED - {"make-fx"}) | _RUN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(
        Experiment.CHANGE, refusals=OF_CAPTURES | OF_LEAKS | {Refusal.FUNCTIONAL_GRAPH}, traits=Trait.CROSSES
    ),
)
