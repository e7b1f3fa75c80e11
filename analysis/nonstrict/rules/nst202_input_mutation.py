"""NST202 input-mutation: A traced function changes an argument that is a container or object; the change is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Change, Event
from nonstrict.findings import Severity
from nonstrict.program.domain.access_paths import Root
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import changes_copy, deed, repetition, target, when
from nonstrict.rules.expectation import OF_LEAKS, Expectation, Experiment, Trait
from nonstrict.rules.stores import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.effects import Effect
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of arguments; one that stores a traced tensor on an object is NST207 besides."""
    for seen in changes(body, Event.WRITE, Event.LEAK):
        effect = seen.effect
        if seen.in_hook or effect.place.root is not Root.ARGUMENT or effect.how is Change.CACHE:
            continue
        if effect.lazy and effect.event is Event.LEAK and not changes_copy(effect):
            continue
        subject = target(effect, "an argument")
        kind = "argument " if effect.place.name and not effect.place.path else ""
        message = f"{deed(effect, f'{kind}{subject}')} {_fate(body, effect)}"
        # What is set once, behind a test whether it is set, is the same however often that happens.
        severity = Severity.NOTE if effect.lazy and effect.event is Event.WRITE else None
        yield report(RULE, body, seen, message, note=_note(body, effect), help=_advice(effect), severity=severity)


def _fate(body: Body, effect: Effect) -> str:
    if body.marker == "make-fx" or not changes_copy(effect):
        return f"happens {when(body)}"
    return "fails to compile" if body.marker == "in-graph" else "is lost: the function gets a copy"


def _note(body: Body, effect: Effect) -> str:
    if body.marker == "make-fx" or not changes_copy(effect):
        return repetition(body)
    if body.marker == "in-graph":
        return f"torch.compile refuses the change while `{body.api}` traces `{body.function}`"
    return f"`{body.api}` flattens containers and rebuilds them: the caller's object does not change"


def _advice(effect: Effect) -> str:
    if changes_copy(effect):
        return "return the new value and store it in the caller, or work on a copy"
    return "return the new value and assign it in the caller, or keep it in a registered buffer changed in place"


def fixes(context: Context) -> Iterator[Fix]:
    """Return what is new, change a buffer in place, or work on a copy."""
    from nonstrict.fixes.effects.buffers import change_in_place
    from nonstrict.fixes.effects.copying import copy_first
    from nonstrict.fixes.effects.returning import return_value

    yield from return_value(context)
    yield from change_in_place(context)
    yield from copy_first(context)


RULE = Rule(
    code="NST202",
    name="input-mutation",
    severity=Severity.ERROR,
    summary="A traced function changes an argument that is a container or object; the change is lost.",
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.EFFECT, refusals=OF_LEAKS, traits=Trait.WRITES_ARGUMENTS),
)
