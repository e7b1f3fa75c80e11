"""Captured state that decides only what is done besides computing: `if key not in SEEN: SEEN.add(key); warn(key)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.discarded import is_discarded
from nonstrict.facts.steps import may_meet
from nonstrict.facts.walk import walk
from nonstrict.models.library import SHIPPED
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Effect, Observed, Summary
    from nonstrict.program.domain.values import Value

#: What nothing that is computed depends on; settings of torch are told as such.
_DONE = frozenset({Event.IO, Event.TORCH_STATE})
_CHANGES = frozenset({Event.WRITE, Event.LEAK, Event.TENSOR_WRITE, Event.INPUT_WRITE, Event.REBIND_DATA})
#: Objects by which threads wait for one another.
_SYNCHRONISING = ("threading.Lock", "threading.Event")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IDLE = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)


def decides_only_effects(root: Summary, function: Function | None, read: Observed) -> bool:
    """Whether nothing depends on captured state but effects, and its own next value.

    It is read by a condition on which nothing else depends, or for a result that the callers drop.
    """
    holder = read.chain[-1].summary.definition if read.chain else function
    node = holder.node if holder is not None else None
    if not isinstance(node, _FUNCTIONS):
        return False
    if any(_synchronises(statement, [read.effect]) for statement in walk(node)):
        return True
    if read.chain and _is_returned(node, read.effect.node) and _is_dropped(root, function, read.chain[-1].summary):
        return True
    block, position = _guard(node.body, read.effect.node)
    if not block:
        return False
    guard = block[position]
    body = [*getattr(guard, "body", []), *getattr(guard, "orelse", [])]
    if block is node.body and all(_returns_nothing(statement) for statement in body):
        body = block[position + 1 :]
    known = _Known(root, [read.effect.place])
    return bool(body) and all(known.is_effect(statement) for statement in body)


def does_only_effects(summary: Summary, branch: ast.If) -> bool:
    """Whether all that either way of a branch does is done besides computing, and changes only what was asked."""
    known = _Known(summary, [effect.place for effect in asked(summary, branch)])
    return all(known.is_effect(statement) for statement in (*branch.body, *branch.orelse))


def _synchronises(statement: ast.AST, effects: Iterable[Effect]) -> bool:
    """Whether a statement calls a method of a lock or event, and drops what that tells: `READY.wait(0.1)`."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    held = (effect for effect in effects if _is_of(effect.value, _SYNCHRONISING))
    return isinstance(call.func, ast.Attribute) and any(
        effect.node in (call, call.func, call.func.value) for effect in held
    )


def _is_of(value: Value, classes: Sequence[str]) -> bool:
    return value.kind is Kind.INSTANCE and SHIPPED.is_a(value.dotted, *classes)


def _is_returned(function: ast.AST, read: ast.AST) -> bool:
    returns = (statement for statement in walk(function) if isinstance(statement, ast.Return))
    return any(inner is read for statement in returns for inner in walk(statement))


def _is_dropped(root: Summary, function: Function | None, callee: Summary) -> bool:
    """Whether all calls of a helper drop what it returns, or return it to callers that do."""
    callers = [
        (reached.summary, edge.node)
        for reached in reachable(root)
        for edge in reached.summary.calls.values()
        if edge.summary is callee
    ]
    return all(_drops(root, function, caller, call) for caller, call in callers)


def _drops(root: Summary, function: Function | None, caller: Summary, call: ast.AST) -> bool:
    holder = function if caller is root else caller.definition
    if holder is None or not isinstance(call, ast.expr):
        return False
    if is_discarded(holder.node, call):
        return True
    return caller is not root and _is_returned(holder.node, call) and _is_dropped(root, function, caller)


def _guard(body: list[ast.stmt], read: ast.AST) -> tuple[list[ast.stmt], int]:
    """The block, and the position in it, of the `if` whose test holds a node; an empty block if there is none."""
    for position, statement in enumerate(body):
        if isinstance(statement, ast.If) and any(inner is read for inner in walk(statement.test)):
            return body, position
        for field in ("body", "orelse", "finalbody") if not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)) else ():
            found = _guard(getattr(statement, field, []), read)
            if found[0]:
                return found
    return [], 0


def _returns_nothing(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Return) else statement
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def asked(summary: Summary, branch: ast.If) -> list[Effect]:
    """What the condition of a branch does, such as reading captured state."""
    tested = {id(node) for node in walk(branch.test)}
    return [effect for effect in summary.effects.values() if id(effect.node) in tested]


class _Known:
    """What a body does, by the expression at which it does it."""

    def __init__(self, root: Summary, asked: Sequence[AccessPath]) -> None:
        self._asked = asked
        self._effects: dict[int, list[Effect]] = {}
        self._followed: set[int] = set()
        for reached in reachable(root):
            self._followed.update(id(edge.node) for edge in reached.summary.calls.values())
            for effect in reached.summary.effects.values():
                self._effects.setdefault(id(effect.node), []).append(effect)

    def is_effect(self, statement: ast.stmt) -> bool:
        """Whether a statement does nothing but what is told as an effect, and changes nothing but what was asked."""
        if isinstance(statement, (ast.If, ast.With)):
            return all(self.is_effect(inner) for inner in (*statement.body, *getattr(statement, "orelse", ())))
        if isinstance(statement, _IDLE) or _returns_nothing(statement):
            return True
        if not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
            return False
        nodes = [id(node) for node in walk(statement)]
        effects = [effect for node in nodes for effect in self._effects.get(node, ())]
        changes = [effect for effect in effects if effect.event in _CHANGES]
        done = (
            bool(changes)
            or _synchronises(statement, effects)
            or (isinstance(statement, ast.Expr) and any(effect.event in _DONE for effect in effects))
        )
        followed = any(node in self._followed for node in nodes)
        return done and not followed and all(self._is_asked(effect) for effect in changes)

    def _is_asked(self, change: Effect) -> bool:
        written = change.place
        return any(written[:3] == one[:3] and may_meet(written.path, one.path) for one in self._asked)
