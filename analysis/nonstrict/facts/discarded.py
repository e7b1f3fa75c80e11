"""Whether anything uses what an expression computes, as far as the text of one function or module tells."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.closures import loads
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Context managers in which a call is expected to fail.
EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "warns", "suppress"})


def is_discarded(outer: ast.AST, node: ast.expr) -> bool:
    """Whether an expression stands as a statement, or its value is bound to names that nothing reads."""
    for statement in walk(outer):
        if isinstance(statement, ast.Expr) and any(part is node for part in _values(statement.value)):
            return True
        if isinstance(statement, ast.Assign) and statement.value is node:
            return all(isinstance(name, ast.Name) and not loads(outer, name.id) for name in statement.targets)
    return False


def is_statement(outer: ast.AST, node: ast.expr) -> bool:
    """Whether an expression stands as a statement, and not where it is expected to fail."""
    found = False
    for statement in walk(outer):
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            expecting = any(last_name(item.context_expr) in EXPECTING for item in statement.items)
            if expecting and any(inner is node for part in statement.body for inner in walk(part)):
                return False
        if isinstance(statement, ast.Expr) and any(part is node for part in _values(statement.value)):
            found = True
        if isinstance(statement, ast.Assign) and statement.value is node:
            found = all(isinstance(name, ast.Name) and name.id == "_" for name in statement.targets)
    return found


def _values(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose value an expression statement drops: `test and mark(f)`, `[mark(f) for f in functions]`."""
    if isinstance(value, ast.BoolOp):
        yield from _values(value.values[-1])
    elif isinstance(value, ast.IfExp):
        yield from _values(value.body)
        yield from _values(value.orelse)
    elif isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield from _values(value.elt)
    else:
        yield value
