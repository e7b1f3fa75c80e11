"""Helpers in another order, and in another file."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from tests.metamorphic.variants.program import bound_otherwise, looks_at_its_names, names, stored

if TYPE_CHECKING:
    from tests.metamorphic.variants.program import Program


def helpers_first(program: Program) -> str | None:
    """The plain functions of the module stand above all else, the last one first."""
    moved = _plain_functions(program)
    start = program.after_imports()
    if not moved or not start:
        return None
    pieces, rest = program.taken(moved)
    lines = rest.split("\n")
    return "\n\n\n".join(["\n".join(lines[:start]), *reversed(pieces), "\n".join(lines[start:])])


def split_in_two(name: str, program: Program) -> dict[str, str] | None:
    """The plain functions that need nothing of the module but imports are in a file of their own."""
    start = program.after_imports()
    moved = _plain_functions(program)
    imported = _imported(program)
    while True:
        known = imported | {function.name for function in moved} | set(dir(builtins))
        kept = [function for function in moved if _free(function) <= known]
        if kept == moved:
            break
        moved = kept
    if not moved or not start or looks_at_its_names(program.tree):
        return None
    pieces, rest = program.taken(moved)
    head, body = rest.split("\n")[:start], rest.split("\n")[start:]
    spelled = ", ".join(function.name for function in moved)
    other = f"{name.removesuffix('.py')}_helpers"
    return {
        name: "\n".join([*head, f"from {other} import {spelled}", *body]),
        f"{other}.py": "\n\n\n".join(["\n".join(head), *pieces]) + "\n",
    }


def _plain_functions(program: Program) -> list[ast.FunctionDef]:
    """Functions of the module that are bound once, without a decorator or a default."""
    tree = program.tree
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    every = [node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    taken = stored(tree) | {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    return [
        function
        for function in functions
        if every.count(function.name) == 1
        and function.name not in taken
        and function.name != "main"
        and not any(argument is not None for argument in _evaluated(function))
    ]


def _evaluated(function: ast.FunctionDef) -> list[ast.expr | None]:
    """What is evaluated where a function is defined."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [argument.annotation for argument in every if argument is not None]
    return [*arguments.defaults, *arguments.kw_defaults, *annotations, function.returns]


def _imported(program: Program) -> set[str]:
    start = program.after_imports()
    return {
        name
        for statement in program.tree.body
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and statement.lineno <= start
        for name in bound_otherwise(statement)
    }


def _free(function: ast.FunctionDef) -> set[str]:
    """The names that a function may read from outside; too many rather than too few."""
    declared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    own = (stored(function) | bound_otherwise(function)) - declared
    return {name.id for name in names(function)} - (own - {function.name})
