"""The sizes of tensors that a text makes: `torch.ones(3, 4)`, `torch.empty_like(x)` where `x` was made above."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.key_sizes import whole_number
from nonstrict.facts.library_calls import called
from nonstrict.facts.reaching import reaching, source

if TYPE_CHECKING:
    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.knowledge.operators import Operator

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
    if isinstance(expression, ast.Subscript):
        base = shape(names, around, expression.value, followed)
        return _of_slices(base, expression.slice) if base is not None else None
    if not isinstance(expression, ast.Call):
        return None
    call = called(names, expression)
    operator, operand = call.operator, call.operand
    if call.library not in ("torch", ""):
        return None
    if operand is not None and (call.dotted in PARAMETERS or (operator and (operator.like or operator.keeps_shape))):
        return shape(names, around, operand, followed)
    if call.is_method:
        return None
    if call.name == "arange" and len(expression.args) == 1:
        return (expression.args[0],)
    if call.name == "tensor":
        return _of_literal(operand) if operand is not None else None
    return _of_sizes(operator, around, expression) if operator is not None else None


def _of_sizes(operator: Operator, around: FunctionNode | ast.Module, call: ast.Call) -> tuple[ast.expr, ...] | None:
    """The sizes that a function is told which makes a tensor of them, all at once or, of some, one by one."""
    given, told = call.args, [one.value for one in call.keywords if one.arg == "size"]
    if any(isinstance(one, ast.Starred) for one in given) or not (operator.sized or operator.sizes):
        return None
    at = 0 if operator.sized else max((one for one in operator.sizes if one < len(given)), default=len(given))
    told = told or (given[at:] if operator.spread else given[at : at + 1])
    together = source(around, told[0]) if len(told) == 1 else None
    if isinstance(together, (ast.Tuple, ast.List)):
        told = together.elts
    elif together is not None and not operator.spread:
        return None
    return None if not told or any(isinstance(size, ast.Starred) for size in told) else tuple(told)


def _of_slices(sizes: tuple[ast.expr, ...], index: ast.expr) -> tuple[ast.expr, ...] | None:
    """The sizes of a part of a tensor that is cut out along some dimensions: `x[:, :-1]`; None for other indices."""
    cuts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(cuts) > len(sizes):
        return None
    parts = [_of_slice(size, cut) for size, cut in zip(sizes, cuts, strict=False)]
    known = [one for one in parts if one is not None]
    return (*known, *sizes[len(cuts) :]) if len(known) == len(parts) else None


def _of_slice(size: ast.expr, cut: ast.expr) -> ast.expr | None:
    """What is left of a dimension of which a few at the front, or at the end, are cut off."""
    if not isinstance(cut, ast.Slice) or cut.step is not None:
        return None
    lower, upper = (whole_number(bound) if bound is not None else 0 for bound in (cut.lower, cut.upper))
    if lower is None or upper is None or lower < 0 or upper > 0:
        return None
    off = lower - upper
    return ast.copy_location(ast.BinOp(size, ast.Sub(), ast.Constant(off)), size) if off else size


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
