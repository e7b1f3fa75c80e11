"""NST204 captured-tensor-mutation.

A traced function changes in place a tensor that it captured instead of taking it as an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import code
from nonstrict.rules.expectation import OF_CAPTURES, Expectation, Experiment, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the in-place operators on captured tensors."""
    for seen in body.observed(Event.TENSOR_WRITE, Event.REBIND_DATA):
        effect = seen.effect
        if not effect.place.captured:
            continue
        named = f"`{effect.place.text}`" if effect.place.name else ""
        message = f"{code(effect.what)} changes {f'captured tensor {named}' if named else 'a captured tensor'} in place"
        yield report(RULE, body, seen, message, note=_fate(body), help=f"pass {named or 'the tensor'} as an argument")


def _fate(body: Body) -> str:
    if body.marker == "make-fx":
        return "tracing itself changes the real tensor, or fails"
    if body.marker == "in-graph":
        return "torch.compile fails with every backend"
    return "torch.compile fails with inductor and aot_eager, and tracing may already have changed the real tensor"


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute
    from nonstrict.fixes.captures.bound import pass_bound
    from nonstrict.fixes.captures.defaults import pass_default

    yield from pass_captured(context)
    yield from pass_default(context)
    yield from pass_bound(context)
    yield from pass_attribute(context)


RULE = Rule(
    code="NST204",
    name="captured-tensor-mutation",
    severity=Severity.ERROR,
    summary="A traced function changes in place a tensor that it captured instead of taking it as an argument.",
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.EFFECT, refusals=OF_CAPTURES | {Refusal.FUNCTIONAL_GRAPH}),
)
