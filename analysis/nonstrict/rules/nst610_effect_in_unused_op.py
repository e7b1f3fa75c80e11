"""NST610 effect-in-unused-op: A custom operator is called for its Python effect only, and removed as dead code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Severity
from nonstrict.program.domain.values import Kind
from nonstrict.rules.base import COMPILED, TRACED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_TEXTS = {
    Event.IO: "I/O",
    Event.WRITE: "a change of Python state",
    Event.LEAK: "a change of Python state",
    Event.THREAD: "work for another thread",
    Event.RAISE: "an exception",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls of operators that are removed together with their effect."""
    for seen in body.observed(Event.DROPPED):
        mark = seen.effect.value.mark
        operator = mark.operator if mark is not None else None
        if mark is None or operator is None or operator.mutates != frozenset() or operator.effectful or operator.traced:
            continue
        if operator.api == "leaf_function":
            continue
        called = body.applied.implementation(mark)
        what = _effect(called)
        if not what:
            continue
        name = called.function.rpartition(".")[2]
        message = f"`{name}` is called for its effect only ({what})"
        note = "its result is not used and it declares no mutation: the compiler removes the call"
        advice = "declare an argument in `mutates_args`, use the result, or register the effect"
        yield report(RULE, body, seen, message, note=note, help=advice)


def _effect(called: Body) -> str:
    """What an operator does beside computing; raising counts where it computes nothing."""
    for event, text in _TEXTS.items():
        if event is Event.RAISE and called.returned.kind is not Kind.NONE:
            continue
        if any(True for _ in called.observed(event)):
            return text
    return ""


def fixes(context: Context) -> Iterator[Fix]:
    """Declare an argument as changed."""
    from nonstrict.fixes.operators.declaring import declare_an_argument

    yield from declare_an_argument(context)


RULE = Rule(
    code="NST610",
    name="effect-in-unused-op",
    severity=Severity.WARNING,
    summary="A custom operator is called for its Python effect only, and removed as dead code.",
    markers=COMPILED | TRACED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.EFFECT, traits=Trait.OPERATOR),
)
