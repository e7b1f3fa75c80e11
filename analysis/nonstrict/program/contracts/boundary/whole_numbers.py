"""Whole numbers and flags that are all that a function returns: `allow_in_graph` takes tensors, floats, and tuples.

Measured on torch 2.13: what comes of a size that is dynamic is taken, as it is symbolic then.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.use_def import use_def
from nonstrict.program.domain.values import NO_CONSTANT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.facts.use_def import UseDef
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value

_KEEPING = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COUNTS = frozenset({"numel", "dim", "ndimension", "element_size", "len", "int"})
_CHOICES = frozenset({"max", "min", "abs", "sum"})


def alone(function: Function, node: ast.AST, value: Value, *, dynamic: Callable[[], bool]) -> str:
    """What a returned value is that is one whole number or flag; "" if it is something else, or may be.

    `dynamic` tells whether sizes of an argument are symbolic.
    """
    if value.kind not in (Kind.NUMBER, Kind.BOOL) or not isinstance(node, ast.expr):
        return ""
    if value.const is NO_CONSTANT and dynamic():
        return ""
    if value.kind is Kind.BOOL:
        return "a flag alone"
    whole = type(value.const) is int if value.const is not NO_CONSTANT else _is_whole(node, use_def(function.node))
    return "a whole number alone" if whole else ""


def _is_whole(node: ast.expr, bound: UseDef, followed: frozenset[str] = frozenset()) -> bool:
    """Whether an expression surely is a whole number; variables are `followed` once."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Name):
        only = bound.only(node.id)
        if only is None or only.value is None or node.id in followed:
            return False
        sizes = only.part is not None and last_name(only.value) == "shape"
        return sizes or (only.part is None and _is_whole(only.value, bound, followed | {node.id}))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_whole(node.operand, bound, followed)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return isinstance(node.op, _KEEPING) and all(_is_whole(side, bound, followed) for side in sides)
    if isinstance(node, ast.Subscript):
        return last_name(node.value) == "shape" and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Attribute):
        return node.attr == "ndim"
    if isinstance(node, ast.Call) and last_name(node) in _CHOICES:
        return bool(node.args) and all(_is_whole(one, bound, followed) for one in node.args)
    return isinstance(node, ast.Call) and (
        last_name(node) in _COUNTS or (last_name(node) == "size" and bool(node.args))
    )
