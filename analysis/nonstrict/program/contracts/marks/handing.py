"""Whether whoever calls a function that applies a marker hands over what is marked, or the function names its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame


def is_own(frame: Frame, node: ast.AST, target: Value) -> bool:
    """Whether the code that applies a marker marks something of its own: the mark stands there, and not at a call."""
    return _is_top_level(frame, node) or _is_of_object(frame, target)


def _is_top_level(frame: Frame, node: ast.AST) -> bool:
    """Whether a function marks what a name of its module stands for."""
    function = frame.function
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if function is None or function.closure is not None or frame.scope is None:
        return False
    return isinstance(given, ast.Name) and given.id not in frame.scope.local


def _is_of_object(frame: Frame, target: Value) -> bool:
    """Whether a method marks one of the same object, or a part of it."""
    function = frame.function
    if function is None or function.owner is None or frame.scope is None or not frame.scope.parameters:
        return False
    receiver = frame.env.get(frame.scope.parameters[0])
    if receiver is None or receiver.heap is None:
        return False
    held = target.bound.receiver if target.bound is not None else target
    parts = (part for value in receiver.heap.attributes.values() for part in value.alternatives())
    own = (receiver, *(part for part in parts if part.kind in (Kind.MODULE, Kind.OBJECT)))
    return held.kind in (Kind.MODULE, Kind.OBJECT) and any(part.heap is held.heap for part in own)
