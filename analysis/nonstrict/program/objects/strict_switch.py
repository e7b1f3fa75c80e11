"""`error_on_graph_break`, a decorator and context manager that says where the graph of a region must not break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

_SWITCH = "torch._dynamo.error_on_graph_break"
#: The names of the switch.
SWITCHES = frozenset({_SWITCH, "torch._dynamo.decorators.error_on_graph_break"})
#: Traits of functions that it is applied to.
STRICT, LOOSE = "strict", "loose"


def switch(frame: object, node: object, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What `error_on_graph_break(...)` makes."""
    told = positional[0] if positional else keywords.get("error_on_graph_break", UNKNOWN)
    return Value(Kind.INSTANCE, FRESH, _SWITCH, const=told.const)


def setting(switched: Value) -> bool | None:
    """What a switch sets, False where that is not known; None for any other value."""
    is_switch = switched.kind is Kind.INSTANCE and switched.dotted == _SWITCH
    return switched.const is True if is_switch else None


def applied(switched: Value, target: Value) -> Value:
    """What a switch, if it is one, is applied to: the same, and of a function what it was set to is known."""
    told = setting(switched)
    if told is not None and target.function is not None:
        target.function.traits.add(STRICT if told else LOOSE)
    elif told is False and target.bound is not None and isinstance(target.bound.function, Function):
        # Other objects of the class may be left as they are: what is loosened accuses nobody.
        target.bound.function.traits.add(LOOSE)
    return target
