"""The severity and wording of capture rules, by marker and evidence."""

from __future__ import annotations

from typing import Any

import pytest

from nonstrict.events import Event, Read
from nonstrict.findings import Rebinding
from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
from nonstrict.program.discovery.sites import CallSite
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NONE, NUMBER, TENSOR, Kind, Value, join
from nonstrict.rules.registry import RULES
from tests.rules.bodies import CHANGED, HERE, FakeBody, at, effect

_GLOBAL = at(Root.GLOBAL, "W")


def _said(code: str, body: FakeBody) -> list[tuple[str, str]]:
    """Severity of each finding of a rule, and its message with the note."""
    examine = RULES[code].examine
    assert examine is not None
    return [(finding.severity.label, f"{finding.message}: {finding.note}") for finding in examine(body.told)]


def _read(value: Value = TENSOR, place: Any = _GLOBAL, how: Read = Read.DATA) -> list[Any]:
    return [effect(Event.READ, place.text, place, value, how=how)]


@pytest.mark.parametrize(
    ("marker", "how", "changes", "severity", "part"),
    [
        ("nonstrict", Read.DATA, (), "error", "inductor, the default backend, refuses"),
        ("nonstrict", Read.DATA, CHANGED, "error", "inductor, the default backend, refuses"),
        ("nonstrict", Read.METADATA, (), "note", "metadata"),
        ("nonstrict", Read.METADATA, CHANGED, "warning", "metadata"),
        ("in-graph", Read.DATA, (), "error", "every backend"),
        ("make-fx", Read.DATA, (), "note", "constant"),
        ("make-fx", Read.DATA, CHANGED, "warning", "constant"),
        ("constant-result", Read.DATA, CHANGED, "error", "freezes"),
        ("constant-result", Read.DATA, (), None, ""),
    ],
)
def test_captured_tensor(marker: str, how: Read, changes: Any, severity: str | None, part: str) -> None:
    said = _said("NST101", FakeBody(_read(how=how), marker=marker, changes=changes))
    assert [found for found, _ in said] == ([severity] if severity else [])
    assert all(part in message for _, message in said)


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        (Root.GLOBAL, "NST101"),
        (Root.CELL, "NST102"),
        (Root.DEFAULT, "NST102"),
        (Root.RECEIVER, "NST102"),
        (Root.ARGUMENT, None),
        (Root.FRESH, None),
        (Root.UNKNOWN, None),
    ],
)
def test_origin_decides_the_rule(origin: Root, code: str | None) -> None:
    body = FakeBody(_read(place=at(origin)), changes=CHANGED)
    assert [rule for rule in RULES if rule < "NST200" and _said(rule, body)] == ([code] if code else [])


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (TENSOR, "NST101"),
        (join(NONE, TENSOR), "NST101"),
        (Value(Kind.PARAMETER), "NST103"),
        (Value(Kind.MODULE), "NST103"),
        (NUMBER, "NST104"),
        (Value(Kind.FUNCTION), "NST104"),
        (Value(Kind.GENERATOR), None),
        (Value(Kind.ITERATOR), None),
    ],
)
def test_kind_decides_the_rule(value: Value, code: str | None) -> None:
    body = FakeBody(_read(value), changes=CHANGED)
    assert [rule for rule in RULES if rule < "NST200" and _said(rule, body)] == ([code] if code else [])


def test_none_changes_only_where_something_replaces_it() -> None:
    assert not _said("NST104", FakeBody(_read(NONE), changes=CHANGED))
    assert _said("NST104", FakeBody(_read(NONE), changes=(Rebinding(HERE, "rebound here"),)))


@pytest.mark.parametrize(("changes", "guarded", "told"), [((), False, 0), (CHANGED, True, 0), (CHANGED, False, 1)])
def test_state_needs_a_writer_and_no_guard(changes: Any, guarded: bool, told: int) -> None:
    assert len(_said("NST104", FakeBody(_read(NUMBER), changes=changes, guarded=guarded))) == told


def test_write_in_place_hides_the_read_inside_it() -> None:
    write = effect(Event.TENSOR_WRITE, "W.add_(1)", _GLOBAL, TENSOR, "add_")
    elsewhere = effect(Event.READ, "W", _GLOBAL, TENSOR, line=2)
    assert len(_said("NST101", FakeBody([write, *_read(), elsewhere]))) == 1


def test_alternatives_of_one_read_are_told_once() -> None:
    node = effect(Event.READ, "W", _GLOBAL, NONE)
    body = FakeBody([node, node._replace(value=TENSOR)], changes=CHANGED)
    assert [rule for rule in RULES if rule < "NST200" and _said(rule, body)] == ["NST101"]


def test_ambient_state() -> None:
    ((severity, message),) = _said("NST104", FakeBody([effect(Event.AMBIENT, what="reads the environment")]))
    assert severity == "warning"
    assert message.startswith("`scale` reads the environment, which nothing guards")


@pytest.mark.parametrize(
    ("module", "switches", "severity"),
    [
        ("torch.nn.Linear", (), "error"),
        ("torch.nn.Dropout", (), "warning"),
        ("torch.nn.Dropout", CHANGED, "error"),
        ("torch.nn.GELU", (), None),
        ("torch.nn.Sequential", (), "error"),
        (None, (), "error"),
    ],
)
def test_captured_module(module: str | None, switches: Any, severity: str | None) -> None:
    body = FakeBody(_read(Value(Kind.MODULE, ref=module)), switches=switches)
    assert [found for found, _ in _said("NST103", body)] == ([severity] if severity else [])


def test_marked_module_is_told_once() -> None:
    receiver = at(Root.RECEIVER, "self", ".weight")
    body = FakeBody(_read(Value(Kind.PARAMETER), receiver), receiver=Value(Kind.MODULE))
    (finding,) = _said("NST103", body)
    assert "a method bound to its module" in finding[1]


@pytest.mark.parametrize(
    ("switches", "passes", "severity"),
    [(CHANGED, False, "warning"), ((), False, "note"), (CHANGED, True, None)],
)
def test_mode(switches: Any, passes: bool, severity: str | None) -> None:
    sites = (CallSite(HERE, compiled=True, arguments={}, argument_spans={}, passes_mode=passes),)
    mode = effect(Event.MODE, "layer(x)", at(Root.ARGUMENT, "layer"), Value(Kind.MODULE), "Dropout")
    body = FakeBody([mode], switches=switches, sites=sites)
    assert [found for found, _ in _said("NST105", body)] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("value", "changes", "severity"),
    [(TENSOR, (), "error"), (NUMBER, CHANGED, "warning"), (NUMBER, (), None), (Value(Kind.MODULE), CHANGED, None)],
)
def test_plain_attribute(value: Value, changes: Any, severity: str | None) -> None:
    attribute = effect(Event.ATTRIBUTE, "self.k", at(Root.ARGUMENT, "self", ".k"), value, "k")
    body = FakeBody([attribute], changes=changes)
    assert [found for found, _ in _said("NST105", body)] == ([severity] if severity else [])


def test_generator_is_told_at_compiled_calls_only() -> None:
    generator = Value(Kind.GENERATOR)
    arguments: Any = {"arguments": {"source": generator}, "argument_spans": {}}
    plain = CallSite(HERE, compiled=False, **arguments)
    compiled = CallSite(HERE, compiled=True, **arguments)
    assert _said("NST302", FakeBody(sites=(plain,))) == []
    taken = (
        BoundaryArgument(HERE, "source", generator, None, site=compiled),
        BoundaryArgument(HERE, "source", generator, None),
    )
    assert len(_said("NST302", FakeBody(sites=(plain, compiled), boundary_arguments=taken))) == 1
