"""Questions for the type of an argument, `type(x) is torch.Tensor`: while tracing a stand-in has another class."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Question
from nonstrict.knowledge.operators import torch_kind
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import TENSORS, TYPE, Kind, Value

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame


def operand_of(operand: ast.expr) -> ast.expr | None:
    """The expression whose type is asked for by `type(x)` or `x.__class__`."""
    if isinstance(operand, ast.Call) and getattr(operand.func, "id", "") == "type" and len(operand.args) == 1:
        return operand.args[0]
    return operand.value if isinstance(operand, ast.Attribute) and operand.attr == "__class__" else None


def _names(frame: Frame, node: ast.Compare, dotted: str) -> bool:
    """Whether one side of a comparison is what a dotted name means."""
    others = (frame.machine.evaluate(frame, operand) for operand in (node.left, *node.comparators))
    return any(other.kind is Kind.EXTERNAL and other.ref == dotted for other in others)


def _names_tensor(frame: Frame, node: ast.Compare, asked: Value) -> bool:
    """Whether the type of an argument that nothing is known of is compared with a tensor class."""
    if asked.kind is not Kind.UNKNOWN or asked.place.path:
        return False
    others = [frame.machine.evaluate(frame, operand) for operand in (node.left, *node.comparators)]
    return any(other.kind is Kind.EXTERNAL and torch_kind(other.dotted) == "tensor-class" for other in others)


def asks_for_type(value: Value) -> bool:
    """Whether a value is the type of a tensor argument: a stand-in's, while tracing."""
    return value.kind is Kind.INSTANCE and value.dotted == TYPE and value.place.root is Root.ARGUMENT


def compared_types(frame: Frame, node: ast.Compare) -> None:
    """`type(x) is torch.Tensor` and the like, for an argument of the marked function."""
    for operand in (node.left, *node.comparators):
        inner = operand_of(operand)
        if inner is not None:
            asked = frame.machine.evaluate(frame, inner)
            tensor = asked.kind in TENSORS or _names_tensor(frame, node, asked)
            symbolic = asked.kind is Kind.NUMBER and not asked.place.path and _names(frame, node, "builtins.int")
            if asked.place.root is Root.ARGUMENT and (tensor or symbolic):
                frame.emit(Event.QUERY, node, asked.place, asked, ast.unparse(node), how=Question.CLASS)
                return
