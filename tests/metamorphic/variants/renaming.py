"""Locals and receivers under other names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.metamorphic.variants.program import (
    Edit,
    Function,
    Program,
    bound_otherwise,
    looks_at_its_names,
    names,
    names_in_formats,
    stored,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RECEIVERS = {"self": "this", "cls": "klass", "ctx": "saved"}


def locals_renamed(program: Program) -> str | None:
    """Variables that functions assign have names that say nothing."""
    return _renamed(program, _renamed_locals)


def receivers_renamed(program: Program) -> str | None:
    """`self`, `cls` and `ctx` are called otherwise."""
    return _renamed(program, _renamed_receivers)


def _renamed(program: Program, renamed: Callable[[Program, ast.AST], Iterator[Edit]]) -> str | None:
    if looks_at_its_names(program.tree):
        return None
    edits = {edit for node in ast.walk(program.tree) for edit in renamed(program, node)}
    # Inner functions rename what outer ones renamed already: the first of two edits at a place counts.
    places: dict[int, Edit] = {}
    for edit in sorted(edits):
        places.setdefault(edit.start, edit)
    return program.edited(places.values()) if places else None


def _renamed_locals(program: Program, node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    body = ast.Module(node.body, [])
    own = _assigned_here(body)
    fixed = names_in_formats(body) | bound_otherwise(body) | _bound_deeper(body)
    fixed |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    for index, name in enumerate(sorted(own - fixed)):
        for each in names(body):
            if each.id == name:
                yield program.replacing(each, f"v{index}_{node.lineno}")


def _renamed_receivers(program: Program, node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.ClassDef):
        return
    for method in node.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = next(iter([*method.args.posonlyargs, *method.args.args]), None)
        if first is None or first.arg not in _RECEIVERS:
            continue
        body = ast.Module(method.body, [])
        if first.arg in names_in_formats(body) | bound_otherwise(body) | stored(body):
            continue
        new = _RECEIVERS[first.arg]
        yield program.replacing(first, new)._replace(end=program.replacing(first, "").start + len(first.arg))
        for each in names(body):
            if each.id == first.arg:
                yield program.replacing(each, new)


def _assigned_here(tree: ast.AST) -> set[str]:
    """The names assigned in a body itself, not in the scopes within it."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            found.add(child.id)
        elif not isinstance(child, (*Function, ast.ClassDef, ast.comprehension)):
            found |= _assigned_here(child)
    return found


def _bound_deeper(tree: ast.AST) -> set[str]:
    """The names that a scope within a body binds for itself."""
    inner = (*Function, ast.ClassDef, ast.comprehension)
    return {name for node in ast.walk(tree) if isinstance(node, inner) for name in stored(node)}
