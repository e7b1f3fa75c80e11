"""NST209 hook-side-effect.

A hook or backward pass reached from a traced function has Python effects, which tracing loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.program.domain.access_paths import Root
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import clause, deed, outlives, target
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.domain.effects import Effect
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the Python effects that happen in a hook or a backward pass."""
    for seen in body.observed(Event.IO, Event.WRITE, Event.LEAK):
        effect = seen.effect
        stays = effect.event is Event.LEAK and outlives(effect)  # NST207
        if not seen.in_hook or stays or not _outside(effect):
            continue
        message = f"{_deed(effect)} in a hook or backward pass"
        note = f"it happens at most while `{body.api}` traces `{body.function}`, never when the compiled code runs"
        advice = "return what the hook records, or record it in the caller of the compiled region"
        yield report(RULE, body, seen, message, note=note, help=advice)


def _outside(effect: Effect) -> bool:
    return effect.event is Event.IO or effect.place.captured or effect.place.root is Root.ARGUMENT


def _deed(effect: Effect) -> str:
    if effect.event is Event.IO:
        return clause(effect, "has an effect outside the program")
    subject = target(effect, "state outside the function")
    if effect.event is Event.LEAK:
        return f"a tensor is stored in {subject}"
    return f"{deed(effect, subject)} happens"


RULE = Rule(
    code="NST209",
    name="hook-side-effect",
    severity=Severity.WARNING,
    summary="A hook or backward pass reached from a traced function has Python effects, which tracing loses.",
    examine=examine,
    expectation=Expectation(Experiment.EFFECT, traits=Trait.TELLS_LATER),
)
