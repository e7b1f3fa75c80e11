"""Functions that a region is given and calls: Dynamo guards their code, and the numbers in their cells.

Measured on torch 2.13: a new lambda of one text costs nothing, as its code is the same object each time; the number in
the cell of a closure and that of a `functools.partial` are symbolic from the second value on.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.facts.closures import loads
from nonstrict.facts.scopes import is_as_passed
from nonstrict.program.contracts.boundary import repeated
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.references import Partial
from nonstrict.program.domain.values import UNKNOWN, Kind, Value
from nonstrict.program.interpret.rounds import MANY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

_CODE = "lambda of another text"
_OPERATOR = "operator of torch"
_MODULE = "module of another class"
_CLOSURE = "closure over a number"
_PARTIAL = "partial with a number"


class _Callee(NamedTuple):
    """A function or module as Dynamo guards it: its code, class, or the name of an operator, and its numbers."""

    code: object
    kind: str
    numbers: tuple[Value, ...]

    @property
    def key(self) -> object | None:
        """What tells it apart from others; None where a number is not known."""
        numbers = tuple(map(key_of, self.numbers))
        return None if None in numbers else (self.code, numbers)


def called(frame: Frame, node: ast.Call) -> None:
    """A region calls what is passed for one of its parameters."""
    function, callee = frame.function, node.func
    if frame.caller is not None or function is None or not isinstance(callee, ast.Name):
        return
    if is_as_passed(function.node, callee.id):
        frame.emit(Event.GUARD, node, AccessPath(Root.ARGUMENT, "", callee.id), UNKNOWN, how=Use.CALL)


def difference(region: Interpreted, function: Function, name: str) -> tuple[str, int, Passing] | None:
    """How the functions differ that calls pass for a parameter, how many there are, and one such call."""
    passed = [(one, found) for one in callers.passings(region.machine, function, name) if (found := _callees(one))]
    codes = {callee.code: callee.kind for one, found in passed for callee in _passed_by(one, found)}
    if len(codes) > 1:
        kinds = {*codes.values()}
        alike = len(kinds) == 1 and kinds <= {_OPERATOR, _MODULE}
        return kinds.pop() if alike else _CODE, len(codes), passed[0][0]
    numbers = _numbers(passed)
    return (next(iter(codes.values())), numbers, passed[0][0]) if numbers > 1 else None


def _passed_by(one: Passing, found: list[_Callee]) -> list[_Callee]:
    """What a call passes: what may be one of several is the same each time where no loop gives another one."""
    return found if len(found) < 2 or repeated.times_made(one.frame.machine, one, MANY) else found[:1]


def _numbers(passed: Iterable[tuple[Passing, list[_Callee]]]) -> int:
    """How many values the numbers take in functions of one code."""
    known, more = set[object](), 0
    for one, found in passed:
        keys = {callee.key for callee in found if callee.numbers}
        if None not in keys:
            known |= keys
        else:
            more += repeated.times_made(one.frame.machine, one, MANY)
    return len(known) + more


def _callees(one: Passing) -> list[_Callee]:
    """The functions that a call may pass; none where one of them is not known."""
    found = [_callee(value) for value in one.value.alternatives()]
    return [callee for callee in found if callee is not None] if None not in found else []


def _callee(value: Value) -> _Callee | None:
    if value.kind is Kind.EXTERNAL and value.dotted.startswith("torch."):
        return _Callee(value.dotted, _OPERATOR, ())
    if value.kind is Kind.PARTIAL and isinstance(value.ref, Partial):
        inner = _callee(value.ref.function)
        held = (*value.ref.positional, *(one for _, one in value.ref.keywords))
        return _Callee(("partial", inner.code), _PARTIAL, tuple(filter(_is_number, held))) if inner else None
    if value.kind is Kind.MODULE and value.ref is not None:
        return _Callee(value.ref, _MODULE, ())
    function = value.function
    if value.kind is not Kind.FUNCTION or function is None or function.traits:
        return None
    around = function.closure.env if function.closure is not None else {}
    own = function.node.args
    held = [one for name, one in sorted(around.items()) if loads(function.node, name) and _is_free(own, name)]
    return _Callee(function.node, _CLOSURE, tuple(filter(_is_number, held)))


def _is_free(own: ast.arguments, name: str) -> bool:
    return all(one.arg != name for one in (*own.posonlyargs, *own.args, *own.kwonlyargs))


def _is_number(value: Value) -> bool:
    return value.kind is Kind.NUMBER
