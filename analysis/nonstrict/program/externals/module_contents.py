"""Parameters, buffers and state of modules: what is asked for them, or given to the module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.models.members import RETURNING_MODULE
from nonstrict.program.domain.values import STRING, UNKNOWN, Kind, Value, container, holding
from nonstrict.program.objects import coverage

if TYPE_CHECKING:
    import ast

    from nonstrict.program.state.frames import Frame

OF_ALL = frozenset({"parameters", "buffers", "named_parameters", "named_buffers", "state_dict"})
METHODS = OF_ALL | {"get_parameter", "get_buffer", "load_state_dict"}


def method(
    frame: Frame, node: ast.AST, module: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """The result of one of the `METHODS` of a module."""
    contracts = frame.machine.contracts
    if name == "load_state_dict":
        contracts.state_given(frame, node, module, positional, keywords)
        coverage.method(frame, node, module, name)
        return UNKNOWN
    found = tensors_of(module, name)
    if name == "state_dict":
        contracts.state_taken(frame, node, module, found)
    return found


def of_wrapper(
    frame: Frame, node: ast.AST, wrapper: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value | None:
    """The same for what `torch.compile` made of something unknown: it is a module, as functions have no state."""
    for value in (*positional, *keywords.values()):
        frame.consume(node, value)
        frame.sink(value)
    contracts = frame.machine.contracts
    if name == "state_dict":
        state = holding(Kind.DICT, UNKNOWN)
        contracts.state_taken(frame, node, wrapper, state)
        return state
    if name == "load_state_dict":
        contracts.state_given(frame, node, wrapper, positional, keywords)
    return wrapper if name in RETURNING_MODULE else None


def tensors_of(module: Value, name: str) -> Value:
    """The parameters and buffers in a module: one by one, in pairs with their names, or under their names."""
    tensor = Value(Kind.PARAMETER, module.place.step("[]"))
    if name.startswith("get_"):
        return tensor
    if name == "state_dict":
        return holding(Kind.DICT, tensor)
    named = name.startswith("named_")
    return holding(Kind.ITERATOR, container(Kind.TUPLE, STRING, tensor) if named else tensor)
