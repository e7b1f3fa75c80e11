"""The sizes of tensors that a text makes: `torch.ones(3, 4)`, `torch.empty_like(x)` where `x` was made above."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.reaching import reaching

if TYPE_CHECKING:
    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode

#: What makes a parameter of a tensor.
PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


def shape(
    names: Names, around: FunctionNode | ast.Module, expression: ast.expr, followed: frozenset[ast.AST] = frozenset()
) -> tuple[ast.expr, ...] | None:
    """The sizes of a tensor that is made right here, or bound to the variable that is read; None if not known."""
    if isinstance(expression, ast.Name):
        bound = reaching(around, expression.id, expression) if expression not in followed else None
        whole = bound.value if bound is not None and bound.part is None else None
        return shape(names, around, whole, followed | {expression}) if whole is not None else None
    call = called(names, expression) if isinstance(expression, ast.Call) else None
    if call is None or call.library not in ("torch", "") or call.operand is None:
        return None
    name, given, operator = call.name, [call.operand, *call.given], call.operator
    if call.dotted in PARAMETERS or (operator is not None and (operator.like or operator.keeps_shape)):
        return shape(names, around, call.operand, followed)
    if call.is_method:
        return None
    if name == "arange" and len(given) == 1:
        return (given[0],)
    if name == "tensor":
        return _of_literal(call.operand)
    if operator is None or not operator.sized:
        return None
    given = given if operator.spread else given[:1]
    sizes = given[0].elts if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else given
    return None if any(isinstance(size, ast.Starred) for size in sizes) else tuple(sizes)


def is_copy_or(names: Names, one: ast.expr, other: ast.expr) -> bool:
    """Whether one of two expressions is a copy of the other, or another tensor like it: `x`, `torch.empty_like(x)`."""
    return _is_like(names, one, other) or _is_like(names, other, one)


def _is_like(names: Names, made: ast.expr, original: ast.expr) -> bool:
    call = called(names, made) if isinstance(made, ast.Call) else None
    if call is None or call.operand is None:
        return False
    copied = call.name == "clone" and call.library in ("", "torch")
    made_like = call.operator is not None and call.operator.like
    return (copied or made_like) and ast.dump(call.operand) == ast.dump(original)


def _of_literal(node: ast.expr) -> tuple[ast.expr, ...] | None:
    """The sizes of `[[1, 2], [3, 4]]` as constants."""
    if isinstance(node, ast.Constant):
        return ()
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    inner = _of_literal(node.elts[0]) if node.elts else ()
    return None if inner is None else (ast.Constant(len(node.elts)), *inner)
