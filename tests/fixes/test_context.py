"""A fix is given the effect that its finding was made of, also where one expression has several."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from nonstrict.events import Change, Event, Read
from nonstrict.findings import Cause, Finding, Output, Severity, Subject
from nonstrict.fixes.context import Context
from nonstrict.program.domain.access_paths import FRESH, Root
from tests.rules.bodies import FakeBody, at, effect

if TYPE_CHECKING:
    from nonstrict.program.domain.effects import Effect

_SEEN, _KEPT = at(Root.GLOBAL, "SEEN"), at(Root.GLOBAL, "KEPT")
_WRITES = [
    effect(Event.WRITE, "f(SEEN, KEPT)", _SEEN, what="append", how=Change.METHOD),
    effect(Event.WRITE, "f(SEEN, KEPT)", _KEPT, what="append", how=Change.METHOD),
    effect(Event.READ, "f(SEEN, KEPT)", _KEPT, how=Read.DATA),
]


def _context(cause: Cause | None) -> Context:
    finding = Finding("NST203", Severity.ERROR, _WRITES[0].span, "message", cause=cause)
    return Context(cast("Any", SimpleNamespace(machine=None)), cast("Any", FakeBody(_WRITES)), finding)


def _found(cause: Cause | None, *events: Event) -> Effect | None:
    seen = _context(cause).observed(*events)
    return seen.effect if seen is not None else None


def test_the_cause_tells_effects_of_one_expression_apart():
    for one in _WRITES:
        assert _found(one.cause, *Event) == one
    assert _found(_WRITES[1].cause, Event.READ) is None


def test_without_a_cause_the_first_one_counts():
    assert _found(None, Event.WRITE, Event.READ) == _WRITES[0]
    assert _found(None, Event.READ) == _WRITES[2]


def test_what_a_cause_says():
    assert _WRITES[0].cause == Cause(Event.WRITE, Change.METHOD, Subject("global", "SEEN"), Output.NONE)
    told = effect(Event.IO, "print(1)", FRESH)._replace(output=Output.STDOUT)
    assert told.cause == Cause(Event.IO, None, None, Output.STDOUT)
