"""NST508 storage-metadata-read: The storage offset of an argument is read, which no guard checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.rules.base import TRACED, Rule, report
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the storage offsets that are asked for."""
    for seen in body.observed(Event.STORAGE):
        name = seen.effect.place.text
        message = f"the storage offset of `{name}` is read without a guard"
        note = f"`{called(body)}` keeps the offset of its first call"
        yield report(RULE, body, seen, message, note=note, help="pass what depends on the offset as an argument")


RULE = Rule(
    code="NST508",
    name="storage-metadata-read",
    severity=Severity.NOTE,
    summary="The storage offset of an argument is read, which no guard checks.",
    markers=TRACED,
    examine=examine,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.SILENT),
)
