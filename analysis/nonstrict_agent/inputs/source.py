"""The source of a function as a syntax tree, and which parameters its local names depend on."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def tree_of(function: Callable[..., object]) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    """The syntax tree of a function, with the line numbers of its file; None where there is no source."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, max(first, 1) - 1)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return node
    return None


def influence(tree: ast.AST | None, names: list[str]) -> Mapping[str, frozenset[str]]:
    """For each local name the parameters that reach it by assignments, in whatever order they run."""
    reached: dict[str, set[str]] = {name: {name} for name in names}
    bindings: list[tuple[set[str], set[str]]] = []
    for node in ast.walk(tree) if tree is not None else ():
        targets, source = _binding(node)
        if targets:
            bindings.append((set[str]().union(*(names_in(each) for each in targets)), names_in(source)))
    for _ in range(4):  # chains of assignments are short; a longer one only loses precision
        for bound, sources in bindings:
            found = set[str]().union(*(reached.get(name, set()) for name in sources))
            for target in bound:
                reached.setdefault(target, set()).update(found)
    return {name: frozenset(found) for name, found in reached.items()}


def _binding(node: ast.AST) -> tuple[list[ast.expr], ast.expr | None]:
    """What a statement or expression binds, and what to."""
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        return [node.target], node.value
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.target], node.iter
    if isinstance(node, ast.withitem) and node.optional_vars is not None:
        return [node.optional_vars], node.context_expr
    return [], None


def names_in(node: ast.AST | None) -> set[str]:
    """The names that occur in an expression."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()
