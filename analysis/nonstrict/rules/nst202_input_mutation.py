"""NST202 input-mutation: A traced function changes an argument that is a container or object; the change is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.places import Origin
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import changes_copy, deed, target
from nonstrict.rules.expectation import OF_LEAKS, Expectation, Experiment, Trait
from nonstrict.rules.stores import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.effects import Effect
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of arguments; one that stores a traced tensor on an object is NST207 besides."""
    for seen in changes(body, Event.WRITE, Event.LEAK):
        effect = seen.effect
        if seen.in_hook or effect.place.origin is not Origin.ARGUMENT or effect.what == "cache":
            continue
        if effect.lazy and effect.event is Event.LEAK and not changes_copy(effect):
            continue
        subject = target(effect, "an argument")
        kind = "argument " if effect.place.name and not effect.place.path else ""
        traced = f"while `{body.api}` traces `{body.function}`"
        message = f"{kind}{subject} is changed by {deed(effect)} {traced}: {_fate(body, effect)}"
        # What is set once, behind a test whether it is set, is the same however often that happens.
        severity = Severity.NOTE if effect.lazy and effect.event is Event.WRITE else None
        yield report(RULE, body, seen, message, help=_advice(effect), severity=severity)


def _fate(body: Body, effect: Effect) -> str:
    copied = changes_copy(effect)
    if body.marker == "make-fx":
        return "the resulting graph does not repeat it"
    if body.marker == "in-graph" and copied:
        return "torch.compile fails"
    if copied:
        return "only a copy changes, the caller's object does not"
    return "this does not happen when the compiled code runs"


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
