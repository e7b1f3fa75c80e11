"""NST207 traced-tensor-leak.

A traced function stores a tensor outside of it: a fake tensor stays behind and poisons later calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Change, Event
from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import outlives, target
from nonstrict.rules.expectation import OF_CAPTURES, OF_LEAKS, Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the stores that outlive the trace, those in hooks and backward passes among them."""
    for seen in body.observed(Event.LEAK):
        effect = seen.effect
        if not outlives(effect):
            continue
        if effect.how is Change.CACHE:
            subject = target(effect, "this function")
            message = f"the cache of {subject} keeps a traced tensor"
            advice = "drop the cache, or compute the tensor before compilation and pass it as an argument"
        else:
            subject = target(effect, "state outside the function")
            message = f"traced tensor leaks into {subject}{' in a hook or backward pass' if seen.in_hook else ''}"
            advice = "return the tensor, or build it before compilation and pass it as an argument"
        note = f"the fake tensor of the trace by `{body.api}` stays there: later uses fail or return fake tensors"
        yield report(RULE, body, seen, message, note=note, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Do without the cache, or return what would be stored."""
    from nonstrict.fixes.effects.caches import compute_each_time, drop_cache, drop_store
    from nonstrict.fixes.effects.returning import return_value

    seen = context.observed(Event.LEAK)
    if seen is not None and seen.in_hook:
        return  # what a hook returns takes the place of what the module returned
    yield from drop_cache(context)
    yield from compute_each_time(context)
    yield from return_value(context)
    yield from drop_store(context)


RULE = Rule(
    code="NST207",
    name="traced-tensor-leak",
    severity=Severity.ERROR,
    summary="A traced function stores a tensor outside of it: a fake tensor stays behind and poisons later calls.",
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.EFFECT, refusals=OF_CAPTURES | OF_LEAKS),
)
