"""Whether control may run off the end of a function, which returns None; and which variables loops fill."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.classmethods import class_parameter
from nonstrict.facts.laziness import is_docstring
from nonstrict.facts.memo import remembered
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.scopes import FunctionNode

_NEVER_RETURN = frozenset({"exit", "_exit", "abort", "fail", "skip", "assert_never", "unreachable"})


def runs_off(function: FunctionNode) -> bool:
    """Whether a function may end without a `return`; a placeholder with no body of its own does not count."""
    return not isinstance(function, ast.Lambda) and not is_placeholder(function) and _completes(function.body)


def is_placeholder(function: FunctionNode) -> bool:
    """Whether a function has no body but `...` or a docstring."""
    if isinstance(function, ast.Lambda):
        return False
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in function.body)


def does_nothing(function: FunctionNode) -> bool:
    """Whether a function has no body but `pass`, `...` and a docstring."""
    if isinstance(function, ast.Lambda):
        return False
    parts = (node for node in function.body if not isinstance(node, ast.Pass))
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in parts)


def only_raises(function: FunctionNode) -> bool:
    """Whether a function has no body but a `raise` and a docstring."""
    parts = [] if isinstance(function, ast.Lambda) else [one for one in function.body if not is_docstring(one)]
    return len(parts) == 1 and isinstance(parts[0], ast.Raise)


def in_choice_by_value(function: FunctionNode) -> bool:
    """Whether the function ends in a chain of conditions that is meant to be complete: `if … return … elif …`."""
    last = function.body[-1] if isinstance(function.body, list) else None
    if isinstance(last, ast.Match):
        return True
    return isinstance(last, ast.If) and len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If)


def makes_callable(function: FunctionNode) -> bool:
    """Whether a function returns a function that it defines, or an object that it makes: what may be compiled then."""
    return remembered(function, "_nonstrict_makes", _makes_callable)


def _makes_callable(function: FunctionNode) -> bool:
    nodes = list(own_scope(function))
    # A class method makes objects of the class that it is called on.
    own = class_parameter(function) if isinstance(function, ast.FunctionDef) else ""
    defined = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    made = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _constructs(node.value, own)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Lambda) or (value is not None and _constructs(value, own)):
            return True
        if isinstance(value, ast.Name) and value.id in defined | made:
            return True
    return False


def _constructs(value: ast.expr, own: str) -> bool:
    """Whether a value is an object of a class, as classes are spelled, or of the one that is called `own`."""
    if not isinstance(value, ast.Call):
        return False
    return last_name(value)[:1].isupper() or (own != "" and getattr(value.func, "id", "") == own)


def asks_for_none(function: FunctionNode) -> bool:
    """Whether a function compares anything with None."""
    tests = (node for node in walk(function) if isinstance(node, ast.Compare))
    return any(
        isinstance(test.ops[0], (ast.Is, ast.IsNot)) and getattr(test.comparators[0], "value", ...) is None
        for test in tests
    )


def suppressed(manager: ast.expr) -> tuple[str, ...]:
    """The names of the exceptions that `with suppress(KeyError, IndexError):` ends there; none for other managers."""
    if not isinstance(manager, ast.Call) or last_name(manager) != "suppress":
        return ()
    return tuple(name for name in map(last_name, manager.args) if name)


def _completes(body: Sequence[ast.stmt]) -> bool:
    return all(_passes(statement) for statement in body)


def _passes(statement: ast.stmt) -> bool:
    """Whether control may go on behind a statement."""
    if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return False
    if isinstance(statement, ast.If):
        return _completes(statement.body) or _completes(statement.orelse)
    if isinstance(statement, ast.While):
        endless = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        return not endless or any(isinstance(inner, ast.Break) for inner in walk(statement))
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _completes(statement.body) or any(suppressed(item.context_expr) for item in statement.items)
    if isinstance(statement, ast.Try):
        tried = _completes(statement.body) and _completes(statement.orelse)
        handled = any(_completes(handler.body) for handler in statement.handlers)
        return (tried or handled) and _completes(statement.finalbody)
    if isinstance(statement, ast.Match):
        default = any(_catches_all(case) for case in statement.cases)
        return not default or any(_completes(case.body) for case in statement.cases)
    if isinstance(statement, ast.Assert):
        return not (isinstance(statement.test, ast.Constant) and not statement.test.value)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return last_name(statement.value) not in _NEVER_RETURN
    return True


def _catches_all(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
