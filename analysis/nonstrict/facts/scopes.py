"""Which names a function binds, declares global or nonlocal, and takes as parameters."""

from __future__ import annotations

import ast
from typing import NamedTuple

from nonstrict.facts.walk import walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Scope(NamedTuple):
    """Names of one function, without those of functions nested in it."""

    parameters: tuple[str, ...]
    assigned: frozenset[str]
    global_names: frozenset[str]
    nonlocal_names: frozenset[str]
    is_generator: bool
    #: the names that live in the function's own frame
    local: frozenset[str]


def scope_of(node: FunctionNode) -> Scope:
    """The scope of a function; computed once per node."""
    cached = getattr(node, "_nonstrict_scope", None)
    if cached is None:
        cached = _scan(node)
        node._nonstrict_scope = cached  # type: ignore[attr-defined]
    return cached


def parameter_names(arguments: ast.arguments) -> tuple[str, ...]:
    """All parameters in order: positional, keyword-only, then `*args` and `**kwargs`."""
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [argument.arg for argument in ordered]
    names += [extra.arg for extra in (arguments.vararg, arguments.kwarg) if extra]
    return tuple(names)


def _scan(node: FunctionNode) -> Scope:
    found = _Names()
    if isinstance(node, ast.Lambda):
        found.expression(node.body)
    else:
        found.statements(node.body)
    return Scope(
        parameter_names(node.args),
        frozenset(found.assigned),
        frozenset(found.global_names),
        frozenset(found.nonlocal_names),
        found.generator,
        frozenset((found.assigned | set(parameter_names(node.args))) - found.global_names - found.nonlocal_names),
    )


class _Names:
    """Collects names from statements; expressions are only searched where they can bind a name or yield."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.generator = False

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        kind = type(node)
        if kind is ast.Assign:
            for target in node.targets:  # type: ignore[attr-defined]
                self.target(target)
            self.value(node.value)  # type: ignore[attr-defined]
        elif kind is ast.Expr or kind is ast.Return:
            if node.value is not None:  # type: ignore[attr-defined]
                self.value(node.value)  # type: ignore[attr-defined]
        elif kind in _DEFINITIONS:
            self.assigned.add(node.name)  # type: ignore[attr-defined]
        elif kind in (ast.AugAssign, ast.AnnAssign):
            self.target(node.target)  # type: ignore[attr-defined]
            if node.value is not None:  # type: ignore[attr-defined]
                self.value(node.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Global):
            self.global_names.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            self.nonlocal_names.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.assigned.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self.target(target)
        else:
            self.compound(node)

    def compound(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.If, ast.While)):
            self.expression(node.test)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.target(node.target)
            self.expression(node.iter)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self.target(item.optional_vars)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                for part in walk(case.pattern):
                    name = getattr(part, "name", None)
                    if isinstance(name, str):
                        self.assigned.add(name)
                self.statements(case.body)
        for field in ("body", "orelse", "finalbody"):
            self.statements(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            if handler.name:
                self.assigned.add(handler.name)
            self.statements(handler.body)

    def target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            self.assigned.add(node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                self.target(element)
        elif isinstance(node, ast.Starred):
            self.target(node.value)

    def value(self, node: ast.expr) -> None:
        """The value of a statement: names are bound in it by `:=` in rare places, yields stand at its top or in calls."""
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            self.generator = True
        elif isinstance(node, (ast.NamedExpr, ast.IfExp, ast.BoolOp, ast.Await, ast.ListComp, ast.GeneratorExp)):
            self.expression(node)

    def expression(self, node: ast.expr) -> None:
        for inner in walk(node):
            if isinstance(inner, ast.NamedExpr) and isinstance(inner.target, ast.Name):
                self.assigned.add(inner.target.id)
            elif isinstance(inner, (ast.Yield, ast.YieldFrom)):
                self.generator = True


_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
