"""Statements: which of them run, how often, and what they bind.

Where a condition is not known, neither way is gone, and what either would bind is not known afterwards. A loop over
what is not known runs a few times.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program.rehearsal.managers import entered
from nonstrict.program.rehearsal.operations import binary, truth
from nonstrict.program.rehearsal.stage import RaisedError
from nonstrict.program.rehearsal.things import UNKNOWN, External, Instance, plain_dict, plain_list, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Scope, Thing

#: How often a loop runs of which that is not known.
_ROUNDS = 2
#: Loops that run longer than this are not gone through to the end.
_MOST_ROUNDS = 256
_ANY = frozenset({"", "Exception", "BaseException"})


class BreakSignal(Exception):  # noqa: N818 - no error: the way out of a loop
    """A loop is left."""


class ContinueSignal(Exception):  # noqa: N818 - no error: the way to the next round
    """A round of a loop is left."""


class ReturnSignal(Exception):  # noqa: N818 - no error: the way out of a function
    """A function returns."""

    def __init__(self, thing: Thing) -> None:
        super().__init__()
        self.thing = thing


def run(stage: Stage, body: Sequence[ast.stmt], scope: Scope) -> Iterator[Thing]:
    """Run statements one after the other. Raises the signals above, RaisedError and GivenUpError."""
    for statement in body:
        stage.spend()
        if isinstance(statement, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)):
            yield from _compound(stage, statement, scope)
        elif isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, (ast.Yield, ast.YieldFrom)):
            yield from _yields(stage, statement.value, scope)
            for target in statement.targets if isinstance(statement, ast.Assign) else ():
                bind(stage, target, UNKNOWN, scope)
        else:
            _simple(stage, statement, scope)


def _yields(stage: Stage, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Iterator[Thing]:
    if isinstance(node, ast.Yield):
        yield stage.evaluate(node.value, scope) if node.value is not None else None
    else:
        yield from stage.iterate(stage.evaluate(node.value, scope)) or ()


# -- simple statements --------------------------------------------------------------------------------------------


def _simple(stage: Stage, statement: ast.stmt, scope: Scope) -> None:  # noqa: C901 - one line for each kind
    if isinstance(statement, ast.Expr):
        stage.evaluate(statement.value, scope)
    elif isinstance(statement, ast.Assign):
        thing = stage.evaluate(statement.value, scope)
        for target in statement.targets:
            bind(stage, target, thing, scope)
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None:
            bind(stage, statement.target, stage.evaluate(statement.value, scope), scope)
    elif isinstance(statement, ast.AugAssign):
        _augment(stage, statement, scope)
    elif isinstance(statement, ast.Return):
        raise ReturnSignal(stage.evaluate(statement.value, scope) if statement.value is not None else None)
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        scope.bind(statement.name, stage.define(statement, scope))
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        _import(stage, statement, scope)
    elif isinstance(statement, ast.Break):
        raise BreakSignal
    elif isinstance(statement, ast.Continue):
        raise ContinueSignal
    elif isinstance(statement, ast.Raise):
        raise RaisedError(_class_name(statement.exc))
    elif isinstance(statement, (ast.Global, ast.Nonlocal)):
        kind = "global" if isinstance(statement, ast.Global) else "nonlocal"
        scope.declared.update(dict.fromkeys(statement.names, kind))
    elif isinstance(statement, ast.Delete):
        for target in statement.targets:
            _delete(stage, target, scope)


def _class_name(node: ast.expr | None) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""


def _augment(stage: Stage, statement: ast.AugAssign, scope: Scope) -> None:
    before = stage.evaluate(_read(statement.target), scope)
    given = stage.evaluate(statement.value, scope)
    held = plain_list(before)
    if held is not None and isinstance(statement.op, ast.Add):
        held.extend(sequence(given) or stage.iterate(given) or ())
        return
    bind(stage, statement.target, binary(stage, statement.op, before, given), scope)


def _read(target: ast.expr) -> ast.expr:
    """The expression that reads a target."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def _import(stage: Stage, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            scope.bind(name, stage.imported(alias.name if alias.asname else name, 0, scope))
        return
    for alias in statement.names if statement.module != "__future__" else ():
        module = stage.imported(statement.module or "", statement.level, scope)
        found = stage.member(module, alias.name) if alias.name != "*" else UNKNOWN
        if found is UNKNOWN and not isinstance(module, External):
            found = stage.imported(f"{statement.module or ''}.{alias.name}".strip("."), statement.level, scope)
        scope.bind(alias.asname or alias.name, found)


def _delete(stage: Stage, target: ast.expr, scope: Scope) -> None:
    if isinstance(target, ast.Name):
        scope.names.pop(target.id, None)
    elif isinstance(target, ast.Subscript):
        held, key = stage.evaluate(target.value, scope), stage.evaluate(target.slice, scope)
        table, entries = plain_dict(held), plain_list(held)
        try:
            if table is not None and key is not UNKNOWN:
                table.pop(key, None)
            elif entries is not None and isinstance(key, (int, slice)):
                del entries[key]
        except (LookupError, TypeError, ValueError) as error:
            raise RaisedError(type(error).__name__) from None


def bind(stage: Stage, target: ast.expr, thing: Thing, scope: Scope) -> None:
    """Assign to a target."""
    if isinstance(target, ast.Name):
        scope.bind(target.id, thing)
    elif isinstance(target, ast.Attribute):
        stage.keep(stage.evaluate(target.value, scope), target.attr, thing)
    elif isinstance(target, ast.Subscript):
        _store(stage, stage.evaluate(target.value, scope), stage.evaluate(target.slice, scope), thing)
    elif isinstance(target, ast.Starred):
        bind(stage, target.value, thing, scope)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(stage, target.elts, thing, scope)


def put(table: dict[Thing, Thing], key: Thing, thing: Thing) -> None:
    """Set an entry of a dictionary. Raises RaisedError where Python raises."""
    try:
        table[key] = thing
    except TypeError:
        raise RaisedError("TypeError") from None


def _store(stage: Stage, holder: Thing, key: Thing, thing: Thing) -> None:
    table, entries = plain_dict(holder), plain_list(holder)
    if table is not None:
        if key is not UNKNOWN:
            put(table, key, thing)
    elif entries is not None:
        if isinstance(key, int) and -len(entries) <= key < len(entries):
            entries[key] = thing
    elif isinstance(holder, Instance):
        stage.put(holder, key, thing)


def _unpack(stage: Stage, targets: list[ast.expr], thing: Thing, scope: Scope) -> None:
    given = sequence(thing)
    if given is None:
        several = stage.iterate(thing)
        given = list(several) if several is not None else None
    starred = next((at for at, one in enumerate(targets) if isinstance(one, ast.Starred)), None)
    if given is None or (len(given) != len(targets) and starred is None):
        given = [UNKNOWN] * len(targets)
    elif starred is not None:
        behind = len(targets) - starred - 1
        stop = len(given) - behind
        given = [*given[:starred], given[starred:stop], *given[stop:]]
    for target, one in zip(targets, given, strict=False):
        bind(stage, target, one, scope)


# -- compound statements ------------------------------------------------------------------------------------------


def _compound(stage: Stage, statement: ast.stmt, scope: Scope) -> Iterator[Thing]:
    if isinstance(statement, ast.If):
        decided = truth(stage, stage.evaluate(statement.test, scope))
        if decided is None:
            _forget(stage, [*statement.body, *statement.orelse], scope)
        else:
            yield from run(stage, statement.body if decided else statement.orelse, scope)
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        yield from _for(stage, statement, scope)
    elif isinstance(statement, ast.While):
        yield from _while(stage, statement, scope)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        yield from _with(stage, statement.items, statement.body, scope)
    elif isinstance(statement, ast.Try):
        yield from _try(stage, statement, scope)


def _forget(stage: Stage, body: Sequence[ast.stmt], scope: Scope) -> None:
    """What statements bind that may run or not is not known."""
    for node in (inner for part in body for inner in walk(part)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope.bind(node.id, UNKNOWN)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            stage.keep(stage.evaluate(_read(node.value), scope), node.attr, UNKNOWN)


def _for(stage: Stage, loop: ast.For | ast.AsyncFor, scope: Scope) -> Iterator[Thing]:
    several = stage.iterate(stage.evaluate(loop.iter, scope))
    given = iter([UNKNOWN] * _ROUNDS) if several is None else several
    for _, thing in zip(range(_MOST_ROUNDS), given, strict=False):
        bind(stage, loop.target, thing, scope)
        try:
            yield from run(stage, loop.body, scope)
        except BreakSignal:
            return
        except ContinueSignal:
            continue
    yield from run(stage, loop.orelse, scope)


def _while(stage: Stage, loop: ast.While, scope: Scope) -> Iterator[Thing]:
    unknown = 0
    for _ in range(_MOST_ROUNDS):
        goes_on = truth(stage, stage.evaluate(loop.test, scope))
        unknown += goes_on is None
        if goes_on is False or unknown > _ROUNDS:
            break
        try:
            yield from run(stage, loop.body, scope)
        except BreakSignal:
            return
        except ContinueSignal:
            continue
    yield from run(stage, loop.orelse, scope)


def _with(stage: Stage, items: Sequence[ast.withitem], body: Sequence[ast.stmt], scope: Scope) -> Iterator[Thing]:
    if not items:
        yield from run(stage, body, scope)
        return
    manager = stage.evaluate(items[0].context_expr, scope)
    with contextmanager(entered)(stage, manager, scope) as thing:
        if items[0].optional_vars is not None:
            bind(stage, items[0].optional_vars, thing, scope)
        yield from _with(stage, items[1:], body, scope)


def _try(stage: Stage, statement: ast.Try, scope: Scope) -> Iterator[Thing]:
    try:
        try:
            yield from run(stage, statement.body, scope)
        except RaisedError as raised:
            handler = next((one for one in statement.handlers if _catches(one, str(raised))), None)
            if handler is None:
                raise
            if handler.name:
                scope.bind(handler.name, UNKNOWN)
            yield from run(stage, handler.body, scope)
        else:
            yield from run(stage, statement.orelse, scope)
    finally:
        yield from run(stage, statement.finalbody, scope)


def _catches(handler: ast.ExceptHandler, raised: str) -> bool:
    several = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(_class_name(one) in _ANY | {raised} for one in several)
