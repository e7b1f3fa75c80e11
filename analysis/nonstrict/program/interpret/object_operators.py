"""Operators on objects of the program: `a + b` calls `a.__add__(b)`, or `b.__radd__(a)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}


def result(frame: Frame, node: ast.AST, left: Value, right: Value, operator: ast.operator) -> Value | None:
    """What the operator methods of objects of the program return; None if they have none."""
    name = _OPERATORS.get(type(operator), "")
    found = classes.special(frame, node, left, f"__{name}__", [right])
    return found if found is not None else classes.special(frame, node, right, f"__r{name}__", [left])
