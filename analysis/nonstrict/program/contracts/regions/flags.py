"""Flags that a region is given: Dynamo guards on them, and traces the branch of those that all seen calls pass.

Numbers are left open: they become symbolic once they vary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.values import UNKNOWN, Kind
from nonstrict.program.mutations.writes import writers
from nonstrict.program.objects.parameters import argument_value, default_nodes, definition_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

_FLAGS = frozenset({Kind.BOOL, Kind.STRING})


def passed(machine: Machine, function: Function) -> dict[str, Value]:
    """The parameters of a region of which the seen calls tell a flag, or flags in a dict."""
    arguments = function.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    found = {name: _known(machine, name, list(_given(machine, function, name))) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _given(machine: Machine, function: Function, name: str) -> Iterator[Value]:
    """What each seen call passes for a parameter, or leaves to be its default."""
    yield from (one.value for one in callers.passings(machine, function, name))
    default = default_nodes(function.node.args).get(name)
    if default is not None and callers.leaves_out(machine, function, name):
        yield machine.evaluate(definition_frame(machine.module_frame(function.module), function), default)


def _known(machine: Machine, name: str, given: list[Value]) -> Value | None:
    if not given or any(one.place.captured and writers(machine, one.place) for one in given):
        return None
    whole = argument_value(given[0], AccessPath(Root.ARGUMENT, "", name))
    if whole.kind in _FLAGS:
        return _same(whole, given)
    heaps = [one.heap for one in given if one.kind is Kind.DICT and one.heap is not None]
    sure = [heap for heap in heaps if not (heap.unsure or heap.open or heap.loose is not None)]
    if whole.heap is None or len(sure) != len(given):
        return None
    known = {
        key: _same(entry, [heap.items.get(key, UNKNOWN) for heap in sure]) for key, entry in whole.heap.items.items()
    }
    whole.heap.items.update({key: entry for key, entry in known.items() if entry is not None})
    return whole if any(entry is not None for entry in known.values()) else None


def _same(value: Value, given: list[Value]) -> Value | None:
    """The value with the constant that all calls pass, if it is a flag; None where they differ, or one is not known."""
    constants = {key_of(one) for one in given}
    alike = len(constants) == 1 and None not in constants and value.kind in _FLAGS
    return value._replace(const=given[0].const) if alike else None
