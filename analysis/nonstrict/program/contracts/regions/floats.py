"""What becomes of the `float`s that a region has from outside in its graphs: operators tell (`Operator.lowers`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Lowered
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.domain.values import TENSORS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

#: The methods that Python's operators call, without their underscores.
_METHODS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}


def given(
    frame: Frame, node: ast.AST, operator: Operator, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    """An operator is called; of a method the first argument is its receiver."""
    if operator.floats:
        for position, value in enumerate(positional):
            _tell(frame, _argument(node, position - len(positional)), value, operator, position)
        for name, value in keywords.items():
            _tell(frame, _keyword(node, name), value, operator, name)


def passed(frame: Frame, node: ast.AST, value: Value, operator: Operator, at: int | str) -> None:
    """A layer gives one of its attributes to a parameter of an operator."""
    _tell(frame, node, value, operator, at)


def computed(frame: Frame, node: ast.AST, *operands: Value) -> None:
    """An operator of Python has its operands, one of them a tensor."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in _METHODS:
        return
    left, right = operands
    name = _METHODS[type(node.op)]
    for tensor, number, side, method in ((left, right, node.right, name), (right, left, node.left, f"r{name}")):
        operator = tensor_method(f"__{method}__") if tensor.kind in TENSORS else None
        if operator is not None:
            _tell(frame, side, number, operator, 1)


def _tell(frame: Frame, node: ast.AST, value: Value, operator: Operator, at: int | str) -> None:
    """A number is given to a parameter of an operator."""
    carried = [one for one in value.taint if one.event is Event.GUARD] if value.taint else []
    kind = operator.lowers(at) if carried else ""
    for one in carried if kind else ():
        frame.emit(Event.FLOAT, node, one.place, one.value, str(at), how=_lowered(kind, value, one))


def _lowered(kind: str, value: Value, carried: Effect) -> Lowered:
    """What becomes of what a number was computed of; that is more than is known of the number."""
    lowered = Lowered(kind)
    return Lowered.SPECIALIZED if lowered is Lowered.KNOWN and value.place != carried.place else lowered


def _argument(node: ast.AST, position: int) -> ast.AST:
    """The expression of an argument, counted from the last; the call itself where it cannot be told apart."""
    if isinstance(node, ast.Call) and -position <= len(node.args):
        return node if any(isinstance(one, ast.Starred) for one in node.args) else node.args[position]
    return node


def _keyword(node: ast.AST, name: str) -> ast.AST:
    given = node.keywords if isinstance(node, ast.Call) else ()
    return next((one.value for one in given if one.arg == name), node)
