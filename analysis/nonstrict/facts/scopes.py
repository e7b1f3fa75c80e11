"""Which names a function binds, declares global or nonlocal, and takes as parameters."""

from __future__ import annotations

import ast
from typing import NamedTuple

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Scope(NamedTuple):
    """Names of one function, without those of functions nested in it."""

    parameters: tuple[str, ...]
    assigned: frozenset[str]
    global_names: frozenset[str]
    nonlocal_names: frozenset[str]
    is_generator: bool

    @property
    def local(self) -> frozenset[str]:
        """The names that live in the function's own frame."""
        return (self.assigned | frozenset(self.parameters)) - self.global_names - self.nonlocal_names


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
    assigned: set[str] = set()
    global_names: set[str] = set()
    nonlocal_names: set[str] = set()
    generator = False
    pending: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while pending:
        current = pending.pop()
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            assigned.add(current.name)
            pending.extend(current.decorator_list)
            continue
        if isinstance(current, ast.Lambda):
            continue
        if isinstance(current, ast.Name):
            if not isinstance(current.ctx, ast.Load):
                assigned.add(current.id)
        elif isinstance(current, ast.Global):
            global_names.update(current.names)
        elif isinstance(current, ast.Nonlocal):
            nonlocal_names.update(current.names)
        elif isinstance(current, (ast.Import, ast.ImportFrom)):
            assigned.update((alias.asname or alias.name).split(".")[0] for alias in current.names)
        elif isinstance(current, ast.ExceptHandler) and current.name:
            assigned.add(current.name)
        elif isinstance(current, (ast.MatchAs, ast.MatchStar)) and current.name:
            assigned.add(current.name)
        elif isinstance(current, (ast.Yield, ast.YieldFrom)):
            generator = True
        pending.extend(ast.iter_child_nodes(current))
    return Scope(
        parameter_names(node.args), frozenset(assigned), frozenset(global_names), frozenset(nonlocal_names), generator
    )
