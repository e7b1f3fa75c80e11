"""Whether a function runs at most once in a program, as far as its text tells: `main()`, what it builds, one object."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from nonstrict.facts.walk import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_REPEATS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def runs_once(machine: Machine, function: Function) -> bool:
    """Whether one call of a function stands in the program, outside of loops, where the program comes by once.

    A function that is mentioned nowhere is for others to call.
    """
    if isinstance(function.node, ast.Lambda):
        return False
    owner = function.owner.name if function.owner is not None else ""
    return _once(machine, function.module, function.node, owner, frozenset())


def decorating(machine: Machine, module: Module, name: str) -> int:
    """How many calls of what it returns, itself included, a function at the top level gets while importing.

    One that does nothing but decorate is called with what it decorates; `@name(...)` calls what that returned as well.
    None are counted for a function with other uses.
    """
    own = _uses(module, name)
    if not all(map(_decorates, own)):
        return 0  # without a look at other files
    others = [around for use in machine.elsewhere.users(module, name) for around in _uses(use.module, use.name)]
    found = [*own, *others] if all(map(_decorates, others)) else []
    return max((2 if isinstance(around[-1], ast.Call) else 1 for around in found), default=0)


def _uses(module: Module, name: str) -> list[list[ast.AST]]:
    """The nodes around each mention of a name but its definition and imports."""
    found = (around for around in mentions(module, name) if around is not None)
    return [around for around in found if not isinstance(around[-1], (ast.alias, ast.Import, ast.ImportFrom))]


def _decorates(around: list[ast.AST]) -> bool:
    """Whether the innermost of some nodes is part of a decorator of a definition at the top level, or of a method."""
    for node, inner in itertools.pairwise(around):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and inner in node.decorator_list:
            return True
        if not isinstance(node, ast.ClassDef):
            return False
    return False


def _once(
    machine: Machine,
    module: Module,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    owner: str,
    above: frozenset[ast.AST],
) -> bool:
    constructs = node.name == "__init__"
    name = owner if constructs else node.name
    if not name or node in above or (owner and not constructs and machine.elsewhere.users(module, owner)):
        return False
    found = sole_call(machine, module, name)
    if found is None:
        return False
    user, around = found
    inside = [one for one in around if isinstance(one, (*_FUNCTIONS, ast.ClassDef))]
    if not inside:
        return True
    last = inside[-1]
    holder = inside[-2] if len(inside) > 1 else None
    if isinstance(last, ast.ClassDef):
        return False
    return _once(machine, user, last, holder.name if isinstance(holder, ast.ClassDef) else "", above | {node})


def sole_call(machine: Machine, module: Module, name: str) -> tuple[Module, list[ast.AST]] | None:
    """The call that is all a program does with a top-level name, outside of loops: its file, the nodes around, itself.

    None where a name is used more than once, or otherwise.
    """
    found = list(itertools.islice(everywhere(machine, module, name), 2))
    if len(found) != 1:
        return None
    around = found[0][1]
    return found[0] if isinstance(around[-1], ast.Call) and not _is_repeated(around) else None


def _is_repeated(around: list[ast.AST]) -> bool:
    """Whether the innermost of some nodes runs again and again: what a `for` statement goes through is made once."""
    return any(
        isinstance(one, _REPEATS) and inner is not (one.iter if isinstance(one, (ast.For, ast.AsyncFor)) else None)
        for one, inner in itertools.pairwise([*around, None])
    )


def everywhere(machine: Machine, module: Module, name: str) -> Iterator[tuple[Module, list[ast.AST]]]:
    """The nodes around each mention of a top-level name of a module: there, and in the files that import it."""
    yield from ((module, around) for around in mentions(module, name) if around is not None)
    for use in machine.elsewhere.users(module, name) if name in module.bindings else ():
        yield from ((use.module, around) for around in _uses(use.module, use.name))


def mentions(module: Module, name: str) -> Iterator[list[ast.AST] | None]:
    """For each mention of a name, the nodes around it, the call of it last; None for its definition."""
    code, line, seen = module.source.code, 1, 0
    for start, _ in sorted(module.outline.places((name,))):
        line, seen = line + code.count("\n", seen, start), start
        column = len(code[code.rfind("\n", 0, start) + 1 : start].encode("utf-8", "surrogateescape"))
        chunks = module.chunks_at([start])
        root = module.outline.node(chunks[0]) if chunks else module.outline.shell
        offset = chunks[0].offset if chunks else 0
        if root is not None:
            around = _path(root, name, line - offset, column)
            defines = isinstance(around[-1], (*_FUNCTIONS, ast.ClassDef)) and around[-1].name == name
            yield None if defines else around


def _path(root: ast.AST, name: str, line: int, column: int) -> list[ast.AST]:
    """The nodes around a name at a place, from the outside in, to the call of it, or the smallest that holds it."""
    path, current = [root], root
    while True:
        inner = next((child for child in children(current) if _covers(child, line, column)), None)
        if inner is None or (isinstance(current, ast.Call) and inner is current.func and _is_named(inner, name)):
            return path
        path.append(inner)
        current = inner


def _is_named(node: ast.AST, name: str) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == name


def _covers(node: ast.AST, line: int, column: int) -> bool:
    first: int | None = getattr(node, "lineno", None)
    if first is None:
        return any(_covers(child, line, column) for child in children(node))
    last, end = getattr(node, "end_lineno", first), getattr(node, "end_col_offset", 0)
    start = getattr(node, "col_offset", 0)
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.decorator_list:
        first = min(first, node.decorator_list[0].lineno)
    return (first, start) <= (line, column) and (line, column) < (last, end)
