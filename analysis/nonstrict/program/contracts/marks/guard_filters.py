"""What `guard_filter_fn` among the options of `torch.compile` drops: by one of torch's filters, or one that drops all.

Source: `torch/compiler/__init__.py` of torch 2.13; a filter returns for each guard whether it is kept.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.domain.definitions import GuardFilter, Told
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value

#: The key of the option.
OPTION = "guard_filter_fn"
_FILTERS = {f"torch.compiler.{one.value}": one for one in GuardFilter}


def of(value: Value) -> GuardFilter | Told:
    """Which guards a filter drops, as far as that is known."""
    if value.kind is Kind.NONE:
        return Told.NOT_GIVEN
    if value.function is not None and _drops_all(value.function.node):
        return GuardFilter.ALL
    named = value.dotted if value.kind is Kind.EXTERNAL else ""
    return _FILTERS.get(named, Told.NOT_KNOWN)


def _drops_all(node: ast.AST) -> bool:
    """Whether a function is nothing but a list of False: `[False for _ in guards]`, `[False] * len(guards)`."""
    result = node.body if isinstance(node, ast.Lambda) else None
    if isinstance(node, ast.FunctionDef):
        last = node.body[-1]
        plain = all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in node.body[:-1])
        result = last.value if plain and isinstance(last, ast.Return) else None
    if isinstance(result, ast.ListComp):
        return _is_false(result.elt)
    if isinstance(result, ast.BinOp) and isinstance(result.op, ast.Mult) and isinstance(result.left, ast.List):
        return all(map(_is_false, result.left.elts))
    return False


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
