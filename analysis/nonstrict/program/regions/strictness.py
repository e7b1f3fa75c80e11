"""`error_on_graph_break`: where the graph must not break although its region may.

The switch is a decorator and a context manager, in the region, in what it calls, and around the call of it. The one
that is nearest to a construct counts; none of them loosens `fullgraph=True`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.places import FRESH
from nonstrict.program.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from nonstrict.program.definitions import Function
    from nonstrict.program.effects import Observed
    from nonstrict.program.frames import Frame
    from nonstrict.program.machine import Machine

_SWITCH = "torch._dynamo.error_on_graph_break"
#: The names of the switch.
SWITCHES = frozenset({_SWITCH, "torch._dynamo.decorators.error_on_graph_break"})
_STRICT, _LOOSE = "strict", "loose"


def switch(frame: Frame, node: ast.AST, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What `error_on_graph_break(...)` makes."""
    told = positional[0] if positional else keywords.get("error_on_graph_break", UNKNOWN)
    return Value(Kind.INSTANCE, FRESH, _SWITCH, const=told.const)


def setting(switched: Value) -> bool | None:
    """What a switch sets, False where that is not known; None for any other value."""
    is_switch = switched.kind is Kind.INSTANCE and switched.ref == _SWITCH
    return switched.const is True if is_switch else None


def applied(switched: Value, target: Value) -> Value:
    """What a switch, if it is one, is applied to: the same, and of a function what it was set to is known."""
    told = setting(switched)
    if told is not None and target.kind is Kind.FUNCTION:
        function: Function = target.ref
        function.traits.add(_STRICT if told else _LOOSE)
    elif told is False and target.kind is Kind.BOUND:
        # Other objects of the class may be left as they are: what is loosened accuses nobody.
        target.ref[1].traits.add(_LOOSE)
    return target


def refuses(machine: Machine, region: Function | None, seen: Observed) -> bool:
    """Whether a construct fails a region that may break elsewhere."""
    return next((known for known in _settings(machine, region, seen) if known is not None), False)


def _settings(machine: Machine, region: Function | None, seen: Observed) -> Iterator[bool | None]:
    """What switches around a construct say, the nearest first."""
    yield seen.effect.strict
    for edge in reversed(seen.chain):
        yield _of_function(edge.summary.definition)
        yield edge.strict
    yield _of_function(region)
    yield region is not None and region.node in machine.called_strictly


def _of_function(function: Function | None) -> bool | None:
    traits = function.traits if function is not None else frozenset[str]()
    return True if _STRICT in traits else False if _LOOSE in traits else None
