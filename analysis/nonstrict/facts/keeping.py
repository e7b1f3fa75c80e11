"""Caches written by hand: what a function does once for each key, and the ways on which nothing is kept."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.laziness import (
    ENTRIES,
    asked_for,
    catches_missing,
    fills,
    is_docstring,
    is_lookup,
    puts_by_key,
    root_of,
)
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.scopes import FunctionNode

#: Functions by which keys are made.
_KEYS = frozenset(
    {
        *("frozenset", "hash", "id", "repr", "sorted", "str", "tuple", "type"),
        *("bool", "float", "getattr", "hasattr", "int", "isinstance", "len", "max", "min"),
    }
)


def returns_what_it_kept(function: FunctionNode) -> bool:
    """Whether a function starts with `if RESULT is not None: return RESULT` and fills `RESULT` later.

    That is a cache written by hand. It is none if results leave that are not kept.
    """
    kept = kept_by_key(function)
    if kept is not None and kept.fill and ways_past(kept, kept.fill[0]):
        return False
    for statement in _working(function):
        ends = isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], ast.Return)
        names = _present(statement.test) if ends and isinstance(statement, ast.If) else set[str]()
        return any(fills(function, name) and not _is_variable(function, name) for name in names)
    return False


class Kept(NamedTuple):
    """What a function does once for each key: the statements that fill the cache, and what is behind them."""

    cache: str
    fill: tuple[ast.stmt, ...]
    #: the `return` behind the statements, where they are a branch of the function
    last: tuple[ast.stmt, ...]
    nodes: frozenset[ast.AST]


def kept_by_key(function: FunctionNode) -> Kept | None:
    """What a function does once for each key, its result kept in a container or variable; None if it is no cache.

    It begins with `if key in CACHE: return CACHE[key]`, the same with a value of `CACHE.get(key)`, or `try: return
    CACHE[key]`, and fills it later; or it ends with `if key not in CACHE: CACHE[key] = f(key)` and `return CACHE[key]`.
    Before that, only keys are named.
    """
    return remembered(function, "_nonstrict_kept", _find_kept)


def keeps_by_key(function: FunctionNode) -> bool:
    """Whether what a function calls is called once for each key, on every way that leads to a result."""
    kept = kept_by_key(function)
    return kept is not None and bool(kept.fill) and not ways_past(kept, kept.fill[0])


def ways_past(kept: Kept, node: ast.AST) -> list[ast.stmt]:
    """The `return` statements behind an expression in the fill of a cache that nothing was put into on the way."""
    way = _way([*kept.fill, *kept.last], kept.cache, node)
    return way.leaving


def _find_kept(function: FunctionNode) -> Kept | None:
    looked_up: dict[str, str] = {}
    body = _working(function)
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Assign) and _names_key(statement):
            looked_up |= _lookups(statement)
            continue
        following = body[index + 1 :]
        for name in sorted({looked_up.get(name, name) for name in _kept(statement, following)}):
            if fills(function, name) and not _is_variable(function, name):
                return _filled(statement, following, name)
        return None
    return None


def _filled(statement: ast.stmt, following: list[ast.stmt], cache: str) -> Kept:
    fill, last = following, list[ast.stmt]()
    if isinstance(statement, ast.Try):
        fill = [*(one for handler in statement.handlers for one in handler.body), *following]
    elif isinstance(statement, ast.If) and not isinstance(statement.body[-1], ast.Return):
        fill, last = statement.body, following
    return Kept(cache, tuple(fill), tuple(last), frozenset(node for one in fill for node in walk(one)))


class _Way(NamedTuple):
    """How statements go on: what leaves without the cache being filled, whether it is filled, whether all leave."""

    leaving: list[ast.stmt]
    filled: bool = False
    ended: bool = False


def _way(block: Sequence[ast.stmt], cache: str, after: ast.AST | None) -> _Way:
    """The ways through some statements, from an expression in them on; from the first on without one."""
    leaving: list[ast.stmt] = []
    for statement in block:
        if after is not None and not _holds(statement, after):
            continue
        if isinstance(statement, ast.Return):
            return _Way(leaving if _puts(statement, cache) else [*leaving, statement], ended=True)
        if isinstance(statement, ast.Raise):
            return _Way(leaving, ended=True)
        parts = _parts(statement)
        if parts:
            inside = [part for part in parts if after is not None and any(_holds(one, after) for one in part)]
            ways = [_way(part, cache, after if inside else None) for part in inside or parts]
            leaving += (one for way in ways for one in way.leaving)
            filled = all(way.filled or way.ended for way in ways)
        else:
            filled = _puts(statement, cache)
        if filled:
            return _Way(leaving, filled=True)
        after = None
    return _Way(leaving)


def _holds(statement: ast.AST, node: ast.AST) -> bool:
    return node in remembered(statement, "_nonstrict_inside", lambda around: frozenset(walk(around)))


def _parts(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement of which one is gone through, the empty one among them."""
    if isinstance(statement, ast.If):
        return [statement.body, statement.orelse]
    if isinstance(statement, (ast.For, ast.While, ast.AsyncFor)):
        return [statement.body, []]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [statement.body]
    if isinstance(statement, ast.Try):
        handled = [[*handler.body, *statement.finalbody] for handler in statement.handlers]
        return [[*statement.body, *statement.orelse, *statement.finalbody], *handled]
    return []


def _puts(statement: ast.stmt, cache: str) -> bool:
    """Whether a statement puts something into a cache: `CACHE[key] = made`, `CACHE.update({key: made})`."""
    return cache in remembered(statement, "_nonstrict_put_into", _put_into)


def _put_into(statement: ast.stmt) -> frozenset[str]:
    """The names of all that a statement puts something into."""
    found: set[str] = set()
    for node in walk(statement):
        target = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and puts_by_key(node):
            target = node.func.value
        elif isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            continue
        found.add(root_of(target))
    return frozenset(found)


def _working(function: FunctionNode) -> list[ast.stmt]:
    """The statements of a function that do anything."""
    idle = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
    body = [] if isinstance(function, ast.Lambda) else function.body
    return [statement for statement in body if not isinstance(statement, idle) and not is_docstring(statement)]


def _kept(statement: ast.stmt, following: list[ast.stmt]) -> set[str]:
    """What a statement returns if it is there, or what it fills for the `return` behind it."""
    if isinstance(statement, ast.Try) and isinstance(statement.body[0], ast.Return):
        value = statement.body[0].value
        missing = any(catches_missing(handler) for handler in statement.handlers)
        return {root_of(value)} if missing and isinstance(value, ast.Subscript) else set()
    if not isinstance(statement, ast.If) or statement.orelse:
        return set()
    if isinstance(statement.body[-1], ast.Return):
        return _present(statement.test)
    last = following[0] if len(following) == 1 else None
    returned = {root_of(last.value)} if isinstance(last, ast.Return) and last.value is not None else set[str]()
    return returned & _absent(statement.test)


def _names_key(statement: ast.Assign) -> bool:
    """Whether a statement only names what a cache is asked for, or what it has."""
    calls = [node.func for node in walk(statement.value) if isinstance(node, ast.Call)]
    return all(isinstance(target, ast.Name) for target in statement.targets) and all(
        call.attr in ENTRIES if isinstance(call, ast.Attribute) else getattr(call, "id", "") in _KEYS for call in calls
    )


def _lookups(statement: ast.Assign) -> dict[str, str]:
    if not isinstance(statement.value, ast.Call) or not is_lookup(statement.value):
        return {}
    container = root_of(getattr(statement.value.func, "value", statement.value))
    return {target.id: container for target in statement.targets if isinstance(target, ast.Name)}


def _present(test: ast.expr) -> set[str]:
    """What a condition asks to be there: `RESULT`, `RESULT is not None`, `key in CACHE`, or several of these."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return set[str]().union(*map(_present, test.values))
    if isinstance(test, (ast.Name, ast.Attribute)):
        return {root_of(test)}
    if isinstance(test, ast.Call):
        return {asked_for(test)} - {""}
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.IsNot):
            return {root_of(test.left)}
        if isinstance(test.ops[0], ast.In):
            return {root_of(test.comparators[0])}
    return set()


def _absent(test: ast.expr) -> set[str]:
    """What a condition asks to be missing: `RESULT is None`, `not RESULT`, `key not in CACHE`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return {root_of(test.operand)}
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.Is):
            return {root_of(test.left)}
        if isinstance(test.ops[0], ast.NotIn):
            return {root_of(test.comparators[0])}
    return set()


def _is_variable(function: FunctionNode, name: str) -> bool:
    """Whether a name is bound anew in the function itself, so that nothing of it stays."""
    scope = scope_of(function)
    return name in scope.assigned and name not in scope.global_names and name not in scope.nonlocal_names
