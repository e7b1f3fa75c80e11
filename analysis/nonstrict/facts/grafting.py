"""Parses an edited class by parsing only the method that was edited: large classes take tens of milliseconds."""

from __future__ import annotations

import ast
from typing import Any

from nonstrict.text.trees import tree_of

#: Shorter classes are parsed as fast as they are compared.
_MIN_LINES = 60
_HEAD = "class _:\n"


def grafted(before: ast.ClassDef, old: str, new: str) -> ast.ClassDef | None:
    """The tree of a class with the text `new`, made of that of the text `old`; None where all is to be parsed.

    It can be done where the edit lies within one method, which is as many lines long as it was. The trees of the other
    methods are used again.
    """
    old_lines, new_lines = old.split("\n"), new.split("\n")
    if len(old_lines) != len(new_lines) or len(new_lines) < _MIN_LINES:
        return None
    changed = [number for number, pair in enumerate(zip(old_lines, new_lines, strict=True), 1) if pair[0] != pair[1]]
    if not changed:
        return None
    for position, method in enumerate(before.body):
        first, last = _lines(method)
        if first <= changed[0] and changed[-1] <= last:
            parsed = _method(new_lines[first - 1 : last], first) if isinstance(method, ast.FunctionDef) else None
            return _with(before, position, parsed) if parsed is not None else None
    return None


def _lines(statement: ast.stmt) -> tuple[int, int]:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return first, statement.end_lineno or statement.lineno


def _method(lines: list[str], first: int) -> ast.FunctionDef | None:
    """The only function that some lines of a class body are, told from its first line to its last."""
    try:
        body = tree_of(_HEAD + "\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    inner = body[0].body if len(body) == 1 and isinstance(body[0], ast.ClassDef) else []
    if len(inner) != 1 or not isinstance(inner[0], ast.FunctionDef) or _lines(inner[0]) != (2, len(lines) + 1):
        return None
    return ast.increment_lineno(inner[0], first - 2)


def _with(before: ast.ClassDef, position: int, method: ast.FunctionDef) -> ast.ClassDef:
    """The class with another method; what was found out about it is forgotten."""
    fields: dict[str, Any] = {name: getattr(before, name) for name in before._fields}
    body = [*before.body[:position], method, *before.body[position + 1 :]]
    kind: Any = ast.ClassDef  # which fields there are depends on the version
    return ast.copy_location(kind(**{**fields, "body": body}), before)
