"""The loops of a text, and what loops over literals give their variables."""

from __future__ import annotations

import ast

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp)


def looping(text: ast.AST) -> tuple[ast.AST, ...]:
    """The loops and comprehensions of a text, those that make a dictionary left out, in the order of `walk`."""
    return remembered(text, "_nonstrict_looping", lambda root: tuple(n for n in walk(root) if isinstance(n, _LOOPS)))


def first_of(around: ast.AST, name: str) -> ast.expr | None:
    """The first of the elements that a loop over a literal gives a variable; None if something else binds it."""
    bound = [inner for inner in walk(around) if isinstance(inner, ast.Name) and inner.id == name]
    loops = [inner for inner in walk(around) if isinstance(inner, ast.For) and inner.target in bound]
    stores = [inner for inner in bound if isinstance(inner.ctx, ast.Store)]
    if len(loops) != 1 or len(stores) != 1:
        return None
    iterable = loops[0].iter
    return iterable.elts[0] if isinstance(iterable, (ast.Tuple, ast.List)) and iterable.elts else None
