"""The example that a finding belongs to, in pages and scripts that define the same name again and again.

`def f` … `f(x)` … `def f` … `f(x)`: the calls after the second definition say nothing about the first one.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.confirm.drivers import reaching_names
from nonstrict.confirm.slices import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NOTHING = Statement(ast.Pass(), frozenset(), frozenset(), frozenset())
#: Decorators that leave nothing behind but what they return; others may have registered the function somewhere.
_TRACELESS = frozenset({"compile", "disable", "nonstrict_trace", "allow_in_graph", "assume_constant_result", "wraps"})


def example_of(statements: Sequence[Statement], names: frozenset[str], line: int) -> list[Statement]:
    """The statements with nothing in place of those outside the example that defines one of some names at a line.

    It ends with the last use of that name before its next definition. What uses the name before it is defined means
    another function. Definitions that were replaced before anything ran that uses the name are gone, as long as
    nothing but their name leads to them. Positions stay what they are. Where the name is defined once, all statements
    are the example.
    """
    here = next((n for n, s in enumerate(statements) if s.binds & names and _spans(s.node, line)), None)
    if here is None or not isinstance(statements[here].node, _DEFINITIONS):
        return list(statements)
    own = statements[here].binds
    end = next((n for n in range(here + 1, len(statements)) if _defines(statements[n], own)), len(statements))
    if end == len(statements) and not any(_defines(s, own) for s in statements[:here]):
        return list(statements)
    reaching = reaching_names(list(statements[:end]), own)
    end = max((n + 1 for n in range(here + 1, end) if statements[n].loads & reaching), default=end)
    running = [n for n in range(here + 1, end) if _uses(statements[n], reaching)]
    return [
        _NOTHING if n >= end or (n < here and _uses(s, own)) or _is_replaced(statements[:end], n, running) else s
        for n, s in enumerate(statements)
    ]


def _spans(node: ast.stmt, line: int) -> bool:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    return first <= line <= (node.end_lineno or node.lineno)


def _defines(statement: Statement, names: frozenset[str]) -> bool:
    return isinstance(statement.node, _DEFINITIONS) and bool(statement.binds & names)


def _uses(statement: Statement, names: frozenset[str]) -> bool:
    return not isinstance(statement.node, _DEFINITIONS) and bool(statement.loads & names)


def _is_replaced(statements: Sequence[Statement], position: int, running: Sequence[int]) -> bool:
    """Whether another definition of the name comes before the next statement that runs the example."""
    here = statements[position] if position < len(statements) else _NOTHING
    if not isinstance(here.node, _DEFINITIONS):
        return False
    following = (n for n in range(position + 1, len(statements)) if _defines(statements[n], here.binds))
    replaced = next(following, None)
    if replaced is None or any(position < n < replaced for n in running):
        return False
    return all(_word(decorator) in _TRACELESS for decorator in here.node.decorator_list)


def _word(decorator: ast.expr) -> str:
    """The last word of a decorator's name."""
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    return inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
