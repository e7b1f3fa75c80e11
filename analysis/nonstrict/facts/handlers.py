"""Which exceptions the code around a call handles."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.fallthrough import suppressed
from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def around(function: ast.AST, node: ast.AST) -> frozenset[str]:
    """The names of the exceptions that are handled around a node of a function, or of a file's top level."""
    found: set[str] = set()
    for names, body in _guarded(function):
        if any(inner is node for part in body for inner in walk(part)):
            found |= names
    return frozenset(found)


def around_calls_of(function: ast.AST, name: str) -> frozenset[str]:
    """The names of the exceptions that a function handles around the calls of one of its parameters."""
    return around_calls(function).get(name, frozenset())


def around_calls(function: ast.AST) -> Mapping[str, frozenset[str]]:
    """By what a function calls by its name, the names of the exceptions that it handles around the calls."""
    return remembered(function, "_nonstrict_around_calls", _around_calls)


def _around_calls(function: ast.AST) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for names, body in _guarded(function):
        calls = (inner for part in body for inner in walk(part) if isinstance(inner, ast.Call))
        for called in {call.func.id for call in calls if isinstance(call.func, ast.Name)}:
            found[called] = found.get(called, frozenset()) | names
    return found


def recovers(function: ast.AST, node: ast.AST, names: frozenset[str]) -> bool:
    """Whether a function goes on without a node that raises an exception of one of these names."""
    for tried in remembered(function, "_nonstrict_tried", _tried_in):
        if any(inner is node for part in tried.body for inner in walk(part)):
            handlers = [handler for handler in tried.handlers if names.intersection(_names(handler.type))]
            if handlers and not any(isinstance(inner, ast.Raise) for inner in walk(handlers[0])):
                return True
    return False


def in_handler(function: ast.AST, node: ast.AST) -> bool:
    """Whether a node of a function stands in a handler of exceptions."""
    handlers = remembered(function, "_nonstrict_handlers", _handlers_in)
    return any(inner is node for handler in handlers for inner in walk(handler))


def _tried_in(function: ast.AST) -> tuple[ast.Try, ...]:
    return tuple(node for node in walk(function) if isinstance(node, ast.Try))


def _handlers_in(function: ast.AST) -> tuple[ast.ExceptHandler, ...]:
    return tuple(node for node in walk(function) if isinstance(node, ast.ExceptHandler))


def in_wrappers(decorator: ast.AST) -> frozenset[str]:
    """The names of the exceptions that what a decorator, or a factory of one, makes handles around the decorated."""
    return remembered(decorator, "_nonstrict_wrapping", _in_wrappers)


def _in_wrappers(decorator: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    for function in walk(decorator):
        if isinstance(function, _FUNCTIONS) and (first := _first(function)):
            for inner in walk(function):
                if inner is not function and isinstance(inner, _FUNCTIONS) and _first(inner) != first:
                    found |= around_calls_of(inner, first)
    return frozenset(found)


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def _guarded(function: ast.AST) -> Iterator[tuple[set[str], list[ast.stmt]]]:
    """Statements that handle exceptions: the names of those, and the statements in which they are handled."""
    for node in walk(function):
        if isinstance(node, ast.Try):
            yield {name for handler in node.handlers for name in _names(handler.type)}, node.body
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            ended = {name for item in node.items for name in suppressed(item.context_expr)}
            if ended:
                yield ended, node.body


def _names(node: ast.expr | None) -> set[str]:
    if node is None:
        return {"BaseException"}
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    return {getattr(part, "attr", getattr(part, "id", "")) for part in nodes}
