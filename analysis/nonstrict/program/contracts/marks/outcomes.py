"""What the call of a marked function gives back: told by its annotation, else by its body for what it is passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import NONE, UNKNOWN, AbstractObject, Flag, Kind, Value, join
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.program.domain.definitions import Function, Mark

#: What is known of a tensor that holds of the one which the compiled code has in its place.
_LASTING = Flag.FLOATING | Flag.BOOLEAN
#: Objects whose fields cross the boundary one by one.
_STRUCTURES = frozenset({Kind.TUPLE, Kind.LIST, Kind.DICT, Kind.OBJECT})


def outcome(frame: Frame, node: ast.AST, mark: Mark, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What a marked function gives back to the caller that passes these arguments.

    Where neither annotation nor body tells, it is a tensor; in a region it is unknown then: a number or a flag
    decides where a tensor would break the graph.
    """
    if mark.api == "make_fx":
        return UNKNOWN  # the graph, not what the function returns
    function = mark.function
    if function is not None and getattr(function.node, "returns", None) is not None:
        return _promised(frame, function)
    computed = _computed(frame, node, mark, positional, keywords)
    return Value(Kind.TENSOR) if computed.kind is Kind.UNKNOWN and not frame.region else computed


def _promised(frame: Frame, function: Function) -> Value:
    returns = getattr(function.node, "returns", None)
    definition = frame.machine.module_frame(function.module)
    promised = frame.machine.annotated(definition, returns, FRESH)
    return promised if promised.kind is not Kind.NONE else NONE


def _computed(
    frame: Frame, node: ast.AST, mark: Mark, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """What the body returns for these arguments, as the compiled code has it: tensors, and structures of tensors.

    What the body does is not the caller's: it is looked at by itself. As in a region, whatever it stores outside stays
    what it was.
    """
    if mark.function is None or mark.kind != "nonstrict" or mark.target.kind not in (Kind.FUNCTION, Kind.BOUND):
        return UNKNOWN  # what is known by its identity would be called as what it is known for
    aside = Frame(
        frame.machine,
        frame.module,
        frame.offset,
        Summary(mark.function.qualname),
        observer=frame.machine.contracts.observer,
    )
    aside.depth = frame.depth
    body = mark.target.at(FRESH)  # not the name, in whose place the marked function may lie
    return _crossing(frame.machine.call(aside, node, body, [*positional], keywords))


def _crossing(value: Value) -> Value:
    """A result on the other side of the boundary."""
    crossed: Value | None = None
    for one in value.alternatives():
        crossed = join(crossed, _one(one))
    return crossed or UNKNOWN


def _one(value: Value) -> Value:
    if value.is_tensor:
        return Value(Kind.TENSOR, FRESH, flags=value.flags & _LASTING)
    if value.kind not in _STRUCTURES or value.heap is None:
        return UNKNOWN
    heap = AbstractObject()
    heap.open, heap.unsure = value.heap.open, value.heap.unsure
    heap.items = {key: _crossing(entry) for key, entry in value.heap.items.items()}
    heap.loose = _crossing(value.heap.loose) if value.heap.loose is not None else None
    heap.element = _crossing(value.heap.element) if value.heap.element is not None else None
    heap.attributes = {name: _crossing(held) for name, held in value.heap.attributes.items()}
    return Value(value.kind, FRESH, value.ref, heap=heap)
