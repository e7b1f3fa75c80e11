"""NST201 io-side-effect.

A traced function prints, logs, or reads or writes files, which happens while tracing and never again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.effect_texts import clause, effect_severity, repetition, when
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the input and output that happens outside hooks."""
    for seen in body.observed(Event.IO):
        if seen.in_hook:
            continue
        message = f"{clause(seen.effect, 'has an effect outside the program')} {when(body)}"
        advice = "move it to the caller of the compiled region; return the values it needs"
        severity = effect_severity(RULE, body)
        yield report(RULE, body, seen, message, note=repetition(body), help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Move it to the caller, remove it, or make an operator of the function."""
    from nonstrict.fixes.effects.moving import move_call, move_condition
    from nonstrict.fixes.effects.removing import remove, remove_progress_bar
    from nonstrict.fixes.operators.wrapping import as_custom_op, as_leaf

    yield from move_condition(context)
    yield from move_call(context)
    if context.finding.severity > Severity.NOTE:
        # Under `assume_constant_result` it may well be meant to happen once.
        yield from remove(context)
        yield from remove_progress_bar(context)
    if context.body.marker != "make-fx":
        yield from as_leaf(context)
        if all(seen.effect.output for seen in context.body.observed(Event.IO)):
            yield from as_custom_op(context)


RULE = Rule(
    code="NST201",
    name="io-side-effect",
    severity=Severity.WARNING,
    summary="A traced function prints, logs, or reads or writes files, which happens while tracing and never again.",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.EFFECT, traits=Trait.TELLS),
    gathered="read or write outside the program",
)
