"""NST401 data-ptr: A traced function takes the address of a tensor, which has no memory while the compiler traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Pointed
from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import clause
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.events import How
    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the places where the address of a tensor is taken."""
    for seen in body.observed(Event.POINTER):
        effect = seen.effect
        captured = effect.place.captured
        message = clause(effect, f"takes the address of a {'captured' if captured else 'traced'} tensor")
        if captured:
            note = f"`{body.api}` freezes the address, and a write through it happens at trace time only"
        else:
            note = f"a tensor has no memory {_fate(body, effect.how)}"
        advice = "wrap the code that needs the address in a `torch.library.custom_op` with `register_fake`"
        severity = Severity.NOTE if captured else RULE.severity
        yield report(RULE, body, seen, message, note=note, help=advice, severity=severity)


def _fate(body: Body, asked: How | None) -> str:
    traced = f"while `{body.api}` traces `{body.function}`"
    if body.marker == "make-fx":
        return f"{traced}: this fails, or the address of the example input is baked in"
    said = ' (torch says "Unsupported output type")' if asked is Pointed.ADDRESS else ""
    return f"{traced}: torch.compile fails{said}"


def fixes(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function."""
    from nonstrict.fixes.operators.wrapping import as_custom_op

    yield from as_custom_op(context)


RULE = Rule(
    code="NST401",
    name="data-ptr",
    severity=Severity.ERROR,
    summary="A traced function takes the address of a tensor, which has no memory while the compiler traces.",
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.REFUSAL),
)
