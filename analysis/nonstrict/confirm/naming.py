"""By which name a file shows a marked function that a decorator hides: a wrapper stands for what it wraps."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.confirm.reaching import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def named_by_text(program: Program, suspect: Suspect) -> Suspect:
    """The suspect with the name that the file has for its function.

    The marker of a wrapper that a decorator made stands among the decorators of the function that it wraps.
    """
    if "<locals>" not in suspect.function or suspect.file != program.path:
        return suspect
    name = next((name for name, node in _definitions(program.tree) if _is_marked_on(node, suspect.marked_line)), "")
    return suspect._replace(function=name) if name else suspect


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions at the top level of a file, and of its classes, by qualified name."""
    for node in tree.body:
        if isinstance(node, _FUNCTIONS):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{part.name}", part) for part in node.body if isinstance(part, _FUNCTIONS))


def _is_marked_on(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return bool(node.decorator_list) and first_line(node) <= line < node.lineno
