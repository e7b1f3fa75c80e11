"""Summaries: what a function does, once each, and what of its calls is seen from outside."""

from __future__ import annotations

import ast

from nonstrict.events import Event
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import CallEdge, Effect, Summary, observed, reachable
from nonstrict.program.domain.values import NUMBER, Kind, Value

W = AccessPath(Root.GLOBAL, "a.py", "W")
NODE = ast.parse("W", mode="eval").body


def effect(event: Event = Event.READ, *, node: ast.AST = NODE, value: Value = NUMBER, entries: tuple[str, ...] = ()):
    """An event at a global."""
    return Effect(event, "a.py", 0, node, W, value, entries=entries)


def call(summary: Summary, **options: bool | str) -> CallEdge:
    """A call of a function with that summary."""
    node = ast.parse(f"{summary.function}()", mode="eval").body
    return CallEdge("a.py", 0, node, summary.function, summary)._replace(**options)


def calling(*edges: CallEdge) -> Summary:
    """The summary of a function that only makes calls."""
    summary = Summary("outer")
    for edge in edges:
        summary.add_call(edge)
    return summary


def doing(*effects: Effect, name: str = "inner") -> Summary:
    """The summary of a function with some effects."""
    summary = Summary(name)
    for one in effects:
        summary.add(one)
    return summary


def test_an_event_at_one_expression_counts_once():
    assert len(doing(effect(), effect()).effects) == 1


def test_two_expressions_are_two_events():
    assert len(doing(effect(), effect(node=ast.parse("W", mode="eval").body)).effects) == 2


def test_a_store_that_is_interpreted_twice_puts_either_value():
    written = doing(effect(Event.WRITE), effect(Event.WRITE, value=Value(Kind.STRING)))
    (one,) = written.effects.values()
    assert {value.kind for value in one.value.alternatives()} == {Kind.NUMBER, Kind.STRING}


def test_a_store_under_two_keys_changes_both():
    (one,) = doing(effect(Event.WRITE, entries=("['a']",)), effect(Event.WRITE, entries=("['b']",))).effects.values()
    assert one.changed == (W.step("['a']"), W.step("['b']"))


def test_a_store_under_a_key_and_one_under_any_change_any():
    (one,) = doing(effect(Event.WRITE, entries=("['a']",)), effect(Event.WRITE)).effects.values()
    assert one.changed == (W,)


def test_an_expression_that_is_evaluated_twice_holds_either_value():
    summary = Summary("f")
    for value in (NUMBER, Value(Kind.STRING), NUMBER):
        summary.hold(NODE, value)
    assert {value.kind for value in summary.held[NODE].alternatives()} == {Kind.NUMBER, Kind.STRING}


def test_what_a_called_function_does_is_seen_with_the_way_there():
    (seen,) = observed(calling(call(calling(call(doing(effect()))))))
    assert [edge.callee for edge in seen.chain] == ["outer", "inner"]


def test_the_shortest_way_is_told():
    inner = doing(effect())
    (seen,) = observed(calling(call(calling(call(inner))), call(inner)))
    assert [edge.callee for edge in seen.chain] == ["inner"]


def test_functions_that_call_one_another_end():
    one, other = Summary("one"), Summary("other")
    one.add_call(call(other))
    other.add_call(call(one))
    assert [reached.summary.function for reached in reachable(one)] == ["one", "other"]


def test_what_runs_in_a_hook_is_told_apart():
    (seen,) = observed(calling(call(doing(effect()), deferred="hook")))
    assert seen.in_hook


def test_what_happens_once_behind_a_cache_is_not_told():
    inner = doing(effect(Event.IO))
    assert [bool(observed(calling(call(inner, cached=cached)))) for cached in (False, True)] == [True, False]
