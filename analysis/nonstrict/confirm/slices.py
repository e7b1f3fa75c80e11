"""Cuts a file down to the top-level statements that some names need, so that an experiment runs no more than those.

Kept are the statements that bind a needed name, those that change what it is bound to, and settings of libraries
(`torch.set_default_dtype`, `register_pytree_node`). Everything is judged by the text of names.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.operator_names import MARK, libraries_in, operator_read, registered
from nonstrict.facts.execution import is_main_guard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
#: Modules whose attributes are settings of the whole process.
_SETTING_MODULES = frozenset({"torch", "numpy", "random", "os", "warnings", "logging"})
_SETTING_WORDS = (
    "set_",
    "seed",
    "manual_seed",
    "register",
    "filterwarnings",
    "simplefilter",
    "environ",
    "init_process_group",
    "use_",
    "config",
)
#: Builtins that change what they are given, and where they are given it.
_CHANGED = {"exec": slice(1, 3), "setattr": slice(0, 1), "delattr": slice(0, 1)}
_NO_ARGUMENT = slice(0, 0)
#: Builtins by which code comes to what it does not name: any definition may be meant.
_BY_TEXT = frozenset({"globals", "eval", "exec"})


class Statement(NamedTuple):
    """A top-level statement and the names it has to do with.

    `binds` are names it binds, `changes` names whose values it changes in place, `loads` the names of the file that it
    or the functions in it read. Custom operators are names too (see `operator_names`).
    """

    node: ast.stmt
    binds: frozenset[str]
    changes: frozenset[str]
    loads: frozenset[str]


@lru_cache(maxsize=8)
def statements_of(tree: ast.Module) -> list[Statement]:
    """The top-level statements of a file, worked out once for each tree; not to be changed."""
    libraries = libraries_in(tree)
    return [
        Statement(
            node,
            frozenset((*bound(node), *registered(node, libraries))),
            frozenset(changed(node)),
            frozenset(free_names(node)),
        )
        for node in tree.body
    ]


class Slice(NamedTuple):
    """The positions of kept statements, and all names that these have to do with."""

    kept: frozenset[int]
    names: frozenset[str]


def slice_for(statements: list[Statement], wanted: Iterable[str], also: Iterable[int] = ()) -> Slice:
    """The statements that the wanted names need, transitively, and those at the positions `also`."""
    libraries, holders = imported_names(statements), _holders_of_settings(statements)
    kept: set[int] = set()
    seen: set[str] = set()
    pending = list(wanted)
    for index in also:
        kept.add(index)
        pending.extend(statements[index].loads)
    for index, statement in enumerate(statements):
        if _always(statement.node) or _is_setting(statement.node, libraries, holders):
            kept.add(index)
            pending.extend(statement.loads)
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in _BY_TEXT:
            pending.extend(one.node.name for one in statements if isinstance(one.node, _DEFINITIONS))
        for index, statement in enumerate(statements):
            if index not in kept and _needed(statement, name, libraries):
                kept.add(index)
                pending.extend(statement.loads)
    return Slice(frozenset(kept), frozenset(seen))


def bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds in its own scope, `global` ones of functions in it included."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0]
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    if isinstance(node, ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from bound(child)


def changed(node: ast.AST) -> Iterator[str]:
    """The names whose values a statement changes.

    By stores below them, deletions, calls of their methods, and of builtins that change what they are given.
    """
    if isinstance(node, _DEFINITIONS):
        return
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield from _root(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _root(node.value.func)
        for given in node.value.args[_CHANGED.get(next(_own_name(node.value.func), ""), _NO_ARGUMENT)]:
            yield from (*_root(given), *_own_name(given))
    for child in ast.iter_child_nodes(node):
        yield from changed(child)


def called(node: ast.Call) -> str:
    """The variable that a call goes through (`model` in `model.layers[0](x)`), empty if it goes through none."""
    return next(iter((*_root(node.func), *_own_name(node.func))), "")


def loaded(node: ast.AST) -> Iterator[str]:
    """All names that a statement reads, in nested functions too; also those that it declares `global`."""
    for part in ast.walk(node):
        yield from _loaded_here(part)


def _loaded_here(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Store):
        yield part.id
    elif isinstance(part, (ast.Global, ast.Nonlocal)):
        yield from part.names
    elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
        # Annotations in quotes.
        yield part.value
    elif operator := operator_read(part):
        yield operator


def free_names(node: ast.AST) -> set[str]:
    """The names that a statement reads and does not bind in a function of its own: parameters are no globals."""
    if not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        names = set(_loaded_here(node))
        return names.union(*map(free_names, ast.iter_child_nodes(node)))
    body = node.body if isinstance(node.body, list) else [node.body]
    inside = set[str]().union(*map(free_names, body))
    declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    own = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    own |= {name for part in body for name in bound(part)}
    outside = (child for child in ast.iter_child_nodes(node) if child not in body)
    return (inside - (own - declared)).union(*map(free_names, outside))


def _root(node: ast.expr) -> Iterator[str]:
    """The variable that a chain of attributes, subscripts and calls starts from."""
    inner: ast.expr = node
    while isinstance(inner, (ast.Attribute, ast.Subscript, ast.Call)):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    if isinstance(inner, ast.Name) and inner is not node:
        yield inner.id


def _needed(statement: Statement, name: str, libraries: frozenset[str]) -> bool:
    """Whether a statement has to do with what a name is."""
    if is_main_guard(statement.node):
        return False
    if name in statement.binds:
        return True
    if name in statement.changes and name not in libraries:
        return True
    if name in _registered_with(statement.node):
        return True
    if MARK in name and isinstance(statement.node, (ast.Import, ast.ImportFrom)):
        # Any import may register operators.
        return True
    # `register_pytree_node(Point, ...)`, `nn.init.zeros_(linear.weight)`: a library is told something about it.
    node = statement.node
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or name not in statement.loads:
        return False
    return (
        any(root in libraries for root in (*_root(node.value.func), *_own_name(node.value.func)))
        and name not in libraries
    )


def _registered_with(node: ast.stmt) -> set[str]:
    """The variables whose decorators register a definition: `square` in `@square.register_fake`."""
    decorators = node.decorator_list if isinstance(node, _DEFINITIONS) else []
    registering = [one for one in decorators if "register" in ast.unparse(one)]
    return {name for one in registering for name in (*_root(one), *_own_name(one))}


def _own_name(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id


def imported_names(statements: list[Statement]) -> frozenset[str]:
    """The names that imports bind."""
    imports = (s for s in statements if isinstance(s.node, (ast.Import, ast.ImportFrom, ast.Try, ast.If)))
    return frozenset(name for s in imports for part in ast.walk(s.node) for name in _imported(part))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from bound(node)


def _always(node: ast.stmt) -> bool:
    """Star imports may bind anything; `__future__` changes what all that follows means."""
    if not isinstance(node, ast.ImportFrom):
        return False
    return node.module == "__future__" or any(alias.name == "*" for alias in node.names)


def _holders_of_settings(statements: list[Statement]) -> frozenset[str]:
    """The names that imports bind to modules with settings, or to parts of these, by whatever name."""
    parts = (part for statement in statements for part in ast.walk(statement.node))
    return frozenset(name for part in parts for name in _from_setting_module(part))


def _from_setting_module(node: ast.AST) -> Iterator[str]:
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    for alias in node.names:
        source = alias.name if isinstance(node, ast.Import) else node.module or ""
        if source.partition(".")[0] in _SETTING_MODULES:
            yield (alias.asname or alias.name).partition(".")[0]


def _is_setting(node: ast.stmt, libraries: frozenset[str], holders: frozenset[str]) -> bool:
    """Whether a statement sets something of a library for the whole process, or registers what it defines."""
    if isinstance(node, _DEFINITIONS):
        return not libraries.isdisjoint(_registered_with(node))
    if isinstance(node, (ast.For, ast.If, ast.Try)) and not is_main_guard(node):
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        return bool(inner) and all(_is_setting(one, libraries, holders) for one in inner)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        if getattr(node.value.func, "id", "") == "setattr" and node.value.args:
            held = node.value.args[0]
            return not holders.isdisjoint((*_root(held), *_own_name(held)))
        target: ast.expr = node.value.func
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
        target = node.targets[0]
    else:
        return False
    roots = {*_root(target), *_own_name(target)} & libraries
    if isinstance(node, ast.Assign) and roots & holders:
        return True
    return bool(roots) and any(word in ast.unparse(target) for word in _SETTING_WORDS)
