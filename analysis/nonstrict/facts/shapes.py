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

#: What makes so many numbers between two.
_SPACED = frozenset({"linspace", "logspace"})
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
    if call.name in _SPACED:
        told = [*expression.args[2:3], *(one.value for one in expression.keywords if one.arg == "steps")]
        return (told[0],) if told else None
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


def cuts(expression: ast.expr) -> list[tuple[int, ast.expr]]:
    """The dimensions along which a part of a tensor is cut out, `x[:, :n]`, each with the size that is left.

    Only what the text tells without the sizes of the tensor; none where an index is anything but a slice.
    """
    index = expression.slice if isinstance(expression, ast.Subscript) else None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    slices = [one for one in parts if isinstance(one, ast.Slice)]
    if len(slices) != len(parts):
        return []
    return [(at, size) for at, one in enumerate(slices) if (size := _cut_to(one)) is not None]


def _of_slices(sizes: tuple[ast.expr, ...], index: ast.expr) -> tuple[ast.expr, ...] | None:
    """The sizes of a part of a tensor that is cut out along some dimensions: `x[:, :-1]`; None for other indices."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(parts) > len(sizes):
        return None
    left = [_of_slice(size, cut) for size, cut in zip(sizes, parts, strict=False)]
    known = [one for one in left if one is not None]
    return (*known, *sizes[len(parts) :]) if len(known) == len(left) else None


def _of_slice(size: ast.expr, cut: ast.expr) -> ast.expr | None:
    """What is left of a dimension of which a few at the front, or at the end, are cut off, or all but a few."""
    if not isinstance(cut, ast.Slice) or cut.step is not None:
        return None
    if (told := _cut_to(cut)) is not None:
        return told
    lower, upper = (whole_number(bound) if bound is not None else 0 for bound in (cut.lower, cut.upper))
    if lower is not None and upper is not None and lower >= 0 >= upper:
        off = lower - upper
        return ast.copy_location(ast.BinOp(size, ast.Sub(), ast.Constant(off)), size) if off else size
    if cut.upper is None and cut.lower is not None and lower is None:
        return ast.copy_location(ast.BinOp(size, ast.Sub(), cut.lower), size)
    return None


def _cut_to(cut: ast.Slice) -> ast.expr | None:
    """How much a slice leaves, by its bounds alone: `:n`, `i : i + n`; None where the size of what is cut decides."""
    if cut.upper is None or cut.step is not None or _is_counted_from_end(cut.upper):
        return None
    if cut.lower is None or whole_number(cut.lower) == 0:
        return cut.upper if whole_number(cut.upper) is None else None
    added = cut.upper if isinstance(cut.upper, ast.BinOp) and isinstance(cut.upper.op, ast.Add) else None
    return added.right if added is not None and ast.dump(added.left) == ast.dump(cut.lower) else None


def _is_counted_from_end(bound: ast.expr) -> bool:
    return isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)


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
