"""Tensors that are made longer: `keys = torch.cat([keys, key], dim=1)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.key_sizes import whole_number
from nonstrict.facts.library_calls import called
from nonstrict.facts.steps import steps_of

if TYPE_CHECKING:
    from nonstrict.facts.library_calls import Names

_SEVERAL = 2


def joined_along(names: Names, value: ast.expr, steps: tuple[str, ...]) -> frozenset[int] | None:
    """Along which dimension an expression is a tensor with others behind or in front of it, as far as that is known.

    `steps` lead to the tensor. None where it is anything else.
    """
    operator = called(names, value).operator if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or operator is None or not operator.joins or not value.args:
        return None
    parts = value.args[0].elts if isinstance(value.args[0], (ast.List, ast.Tuple)) else []
    if len(parts) < _SEVERAL or not any(steps_of(part) == steps for part in parts):
        return None
    told = [*value.args[1:2], *(one.value for one in value.keywords if one.arg == "dim")]
    return frozenset(one for part in told if (one := whole_number(part)) is not None)
