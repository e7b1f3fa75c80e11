"""What the variables of a function or module are bound to, and where: reaching definitions, as far as one goes.

Where a variable is bound once, by the function and the functions inside of it, whatever reads it reads that. The
variables of comprehensions count as the function's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import rebound_inside, scope_of
from nonstrict.facts.walk import own_scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.facts.scopes import FunctionNode


class Part(NamedTuple):
    """The part of a value that a target takes which unpacks it: which one, of how many."""

    at: int
    number: int


class Definition(NamedTuple):
    """One binding of a variable, at a node.

    `value` is the expression that it is given, as a whole or a `part` of it; None where no expression says what it is:
    loops, `with`, imports, definitions, handlers, patterns, `del`, augmented assignments.
    """

    node: ast.AST
    value: ast.expr | None = None
    part: Part | None = None


class UseDef:
    """The bindings of the variables of one function or top level, in the order of its text."""

    def __init__(self, function: FunctionNode | ast.Module) -> None:
        """Look through a function, or a module but for what is inside its functions and classes."""
        self._elsewhere = rebound_inside(function)
        found: dict[str, list[Definition]] = {}
        for node in own_scope(function):
            for name, definition in _bound_by(node):
                found.setdefault(name, []).append(definition)
        self.definitions: Mapping[str, tuple[Definition, ...]] = {name: tuple(all_) for name, all_ in found.items()}
        self._own = set(found)
        if not isinstance(function, ast.Module):
            scope = scope_of(function)
            self._elsewhere |= scope.global_names | scope.nonlocal_names
            self._own = scope.local - set(scope.parameters) - self._elsewhere

    def only(self, name: str) -> Definition | None:
        """The one binding of a variable; None where there are others, or it is a parameter, or lives elsewhere."""
        found = self.definitions.get(name, ())
        return found[0] if len(found) == 1 and name in self._own else None

    def every(self, name: str) -> tuple[Definition, ...]:
        """All bindings of a variable, beside that as a parameter; none where other functions may bind it."""
        return self.definitions.get(name, ()) if name not in self._elsewhere else ()

    def value(self, name: str) -> ast.expr | None:
        """The expression that a variable is bound to as a whole, and to nothing else."""
        only = self.only(name)
        return only.value if only is not None and only.part is None else None

    def once(self) -> Iterator[tuple[str, Definition]]:
        """The variables that are bound once."""
        for name in self.definitions:
            only = self.only(name)
            if only is not None:
                yield name, only


def use_def(function: FunctionNode | ast.Module) -> UseDef:
    """The index of a function; made once per node."""
    return remembered(function, "_nonstrict_use_def", UseDef)


def _bound_by(node: ast.AST) -> Iterator[tuple[str, Definition]]:
    """The names that a node binds itself; targets are told with the statement that they are of."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _taken(target, node.value)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _taken(node.target, node.value)
    elif isinstance(node, ast.NamedExpr):
        yield from _taken(node.target, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from ((name, Definition(node)) for name, _ in _unknown(node.target))
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _unknown(node.target)
    elif isinstance(node, ast.withitem):
        yield from _unknown(node.optional_vars) if node.optional_vars is not None else ()
    elif isinstance(node, ast.Delete):
        yield from (one for target in node.targets for one in _unknown(target))
    else:
        yield from ((name, Definition(node)) for name in _named_by(node))


def _named_by(node: ast.AST) -> Iterator[str]:
    """The names that a node binds without a target."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield from (node.name,) if node.name else ()
    elif isinstance(node, ast.MatchMapping):
        yield from (node.rest,) if node.rest else ()


def _taken(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Definition]]:
    """The names in a target, each with what of the value it gets."""
    if isinstance(target, ast.Name):
        yield target.id, Definition(target, value)
    elif isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(one, ast.Starred) for one in target.elts):
        number = len(target.elts)
        apart = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == number else None
        starred = apart is not None and any(isinstance(one, ast.Starred) for one in apart)
        for at, one in enumerate(target.elts):
            if apart is not None and not starred:
                yield from _taken(one, apart[at])
            elif isinstance(one, ast.Name):
                yield one.id, Definition(one, value, Part(at, number))
            else:
                yield from _unknown(one)
    else:
        yield from _unknown(target)


def _unknown(target: ast.expr) -> Iterator[tuple[str, Definition]]:
    """The names in a target of which it is not told what they get."""
    if isinstance(target, ast.Name):
        yield target.id, Definition(target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        yield from (found for one in target.elts for found in _unknown(one))
    elif isinstance(target, ast.Starred):
        yield from _unknown(target.value)
