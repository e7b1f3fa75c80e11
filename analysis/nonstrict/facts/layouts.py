"""How a tensor that an expression makes lies in memory, as far as its text tells: transposed, a column, every other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called

if TYPE_CHECKING:
    from nonstrict.facts.library_calls import Names

#: Attributes that are a tensor with two or all of its dimensions exchanged.
_EXCHANGED = frozenset({"T", "mT", "H", "mH"})


def rearranged(names: Names, expression: ast.expr) -> str:
    """What makes the elements of a tensor lie apart from one another, or in another order; "" where nothing does."""
    if isinstance(expression, ast.Attribute):
        return expression.attr if expression.attr in _EXCHANGED else ""
    if isinstance(expression, ast.Subscript):
        return ast.unparse(expression.slice) if _leaves_out(expression.slice) else ""
    call = called(names, expression) if isinstance(expression, ast.Call) else None
    return call.name if call is not None and call.operator is not None and call.operator.permutes else ""


def _leaves_out(index: ast.expr) -> bool:
    """Whether a subscript takes a column, or one element of several: `[:, 0]`, `[::2]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    whole = isinstance(parts[0], ast.Slice) and parts[0].lower is None and parts[0].upper is None
    column = whole and any(isinstance(part, ast.Constant) and part.value is not Ellipsis for part in parts[1:])
    return column or any(isinstance(part.step, ast.Constant) and part.step.value != 1 for part in slices)
