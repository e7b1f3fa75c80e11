"""The statements of a module outside functions, in the order of the text: which of them run again and again."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator


class Step(NamedTuple):
    """A simple statement outside functions, or the target or test of a compound one, with the names that it holds.

    It `repeats` where it is part of a loop that calls something for effect; `loop` is the outermost around it.
    """

    node: ast.AST
    words: frozenset[str]
    repeats: bool
    loop: ast.stmt | None


def steps_outside(shell: ast.AST) -> tuple[Step, ...]:
    """The steps of a module."""
    return remembered(shell, "_nonstrict_steps", _with_words)


def _with_words(shell: ast.AST) -> tuple[Step, ...]:
    return tuple(
        Step(node, frozenset(inner.id for inner in walk(node) if isinstance(inner, ast.Name)), repeats, loop)
        for node, repeats, loop in _steps(getattr(shell, "body", []), None, repeats=False)
    )


def _steps(
    body: list[ast.stmt], around: ast.stmt | None, *, repeats: bool
) -> Iterator[tuple[ast.AST, bool, ast.stmt | None]]:
    for statement in body:
        if not isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            yield statement, repeats, around
            continue
        is_loop = isinstance(statement, (ast.For, ast.While))
        again = repeats or (is_loop and any(map(is_call, simple_statements(statement.body))))
        loop = around or (statement if is_loop else None)
        head = getattr(statement, "target", getattr(statement, "test", None))
        if head is not None:
            yield head, again, loop
        blocks = [statement.body, *(handler.body for handler in getattr(statement, "handlers", []))]
        for block in (*blocks, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])):
            yield from _steps(block, loop, repeats=again)


def is_main_guard(node: ast.stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


def is_call(statement: ast.AST) -> bool:
    """Whether a statement is a call and nothing else."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def simple_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements outside functions in the order of the text, those in branches and loops too."""
    for statement in body:
        if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            yield from simple_statements(statement.body)
            for handler in getattr(statement, "handlers", []):
                yield from simple_statements(handler.body)
            yield from simple_statements(getattr(statement, "orelse", []))
            yield from simple_statements(getattr(statement, "finalbody", []))
        else:
            yield statement


def entries(shell: ast.AST) -> frozenset[str]:
    """The functions by which a script begins: those that are called outside functions for what they do."""
    return remembered(shell, "_nonstrict_entries", _find_entries)


def _find_entries(shell: ast.AST) -> frozenset[str]:
    statements = (step.node for step in steps_outside(shell) if isinstance(step.node, ast.Expr))
    calls = (inner.func for statement in statements for inner in walk(statement) if isinstance(inner, ast.Call))
    return frozenset(callee.id for callee in calls if isinstance(callee, ast.Name))
