"""NST403 opaque-native-call: A traced function hands a tensor to compiled code that torch does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import code
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls that hand a traced tensor to compiled code outside torch."""
    for seen in body.observed(Event.NATIVE):
        what = code(seen.effect.what) if seen.effect.what else "compiled code outside torch"
        message = f"{what} gets a traced tensor, which has no data"
        note = f"when `{body.api}` traces `{body.function}`, the call fails or is left out of the graph"
        advice = "wrap the call in a `torch.library.custom_op` with `register_fake`"
        yield report(RULE, body, seen, message, note=note, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function."""
    from nonstrict.fixes.operators.wrapping import as_custom_op

    yield from as_custom_op(context)


RULE = Rule(
    code="NST403",
    name="opaque-native-call",
    severity=Severity.WARNING,
    summary="A traced function hands a tensor to compiled code that torch does not know.",
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.REFUSAL),
)
