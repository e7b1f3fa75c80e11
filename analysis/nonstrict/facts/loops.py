"""What loops over literals give their variables."""

from __future__ import annotations

import ast

from nonstrict.facts.walk import walk


def first_of(around: ast.AST, name: str) -> ast.expr | None:
    """The first of the elements that a loop over a literal gives a variable; None if something else binds it."""
    bound = [inner for inner in walk(around) if isinstance(inner, ast.Name) and inner.id == name]
    loops = [inner for inner in walk(around) if isinstance(inner, ast.For) and inner.target in bound]
    stores = [inner for inner in bound if isinstance(inner.ctx, ast.Store)]
    if len(loops) != 1 or len(stores) != 1:
        return None
    iterable = loops[0].iter
    return iterable.elts[0] if isinstance(iterable, (ast.Tuple, ast.List)) and iterable.elts else None
