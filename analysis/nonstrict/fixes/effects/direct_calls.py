"""A call made at once in place of one handed over with its arguments: `f(x)` for `f` and `(x,)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.fixes.uses.terms import enclosed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document

TITLE = "Do the work without another thread"
_WAITING = frozenset({"acquire", "recv", "wait", "wait_for"})


def direct(document: Document, function: ast.expr, arguments: Sequence[str]) -> str:
    """The call of a function, the body of a lambda without parameters.

    "" if it takes more than a line, or if the function may wait for what comes after it is handed over.
    """
    text = document.text(function)
    if "\n" in text or any("\n" in one for one in arguments) or waits(document, function):
        return ""
    if isinstance(function, ast.Lambda) and not arguments and not ast.unparse(function.args):
        return enclosed(document.text(function.body))
    return f"{enclosed(text)}({', '.join(arguments)})"


def waits(document: Document, function: ast.expr) -> bool:
    """Whether a function of the file, or a lambda, has a `while` loop, or waits for a queue, a lock or an event."""
    bodies: list[ast.AST] = [function]
    if isinstance(function, ast.Name):
        definitions = document.of(ast.FunctionDef, ast.AsyncFunctionDef)
        bodies += (one for one in definitions if one.name == function.id)
    return any(_blocks(part) for body in bodies for part in ast.walk(body))


def _blocks(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return isinstance(node, ast.While)
    return node.func.attr in _WAITING or (node.func.attr == "get" and not node.args)


def spread(
    document: Document, function: ast.expr, positional: ast.expr | None = None, named: ast.expr | None = None
) -> str:
    """The call of a function with the elements of a tuple and the entries of a dictionary; "" if that is not told."""
    arguments: list[str] = []
    if isinstance(positional, (ast.Tuple, ast.List)):
        arguments += (document.text(one) for one in positional.elts)
    elif positional is not None:
        arguments.append(f"*{enclosed(document.text(positional))}")
    if isinstance(named, ast.Dict):
        for key, value in zip(named.keys, named.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value.isidentifier():
                return ""
            arguments.append(f"{key.value}={document.text(value)}")
    elif named is not None:
        arguments.append(f"**{enclosed(document.text(named))}")
    return direct(document, function, arguments)


def only_value(document: Document, function: FunctionNode, name: str) -> ast.Assign | None:
    """The assignment that alone binds a variable of a function; None if there is no such."""
    bound = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == name]
    stored = [one for one in bound if not isinstance(one.ctx, ast.Load)]
    statement = document.parent(stored[0]) if len(stored) == 1 else None
    local = statement is not None and document.function(statement) is function
    return statement if isinstance(statement, ast.Assign) and local and statement.targets == stored else None


def loads(function: FunctionNode, name: str) -> list[ast.Name]:
    """Where a variable is read in a function and those inside it."""
    named = (one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == name)
    return [one for one in named if isinstance(one.ctx, ast.Load)]


def called(function: FunctionNode, methods: Collection[str]) -> Iterator[ast.Call]:
    """The calls of some methods in a function, without those in functions inside it."""
    for node in own_scope(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            yield node
