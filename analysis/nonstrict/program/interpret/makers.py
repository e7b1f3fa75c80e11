"""Which expression makes what another one gives: behind variables, and functions of the program that return it.

What such a function says of it can be told in the words of the call, with arguments in place of the parameters.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import arguments
from nonstrict.facts.reaching import reaching, source
from nonstrict.facts.scopes import is_deferred, scope_of
from nonstrict.facts.use_def import Part
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.effects import Summary
from nonstrict.program.interpret.loop_targets import loops_giving, position_of
from nonstrict.program.objects import naming, parameters
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How many functions are looked into, one called by another, at most.
_HOPS = 2


class Making(NamedTuple):
    """The expression that makes something, and the frame that it is read in.

    `given` is what the parameters of that function are in the words of the first text; None where it stands there.
    """

    frame: Frame
    expression: ast.expr
    given: Mapping[str, ast.expr] | None = None

    def told(self, part: ast.expr) -> ast.expr | None:
        """An expression of that function in the words of the first text; None where there are none for it."""
        function = self.frame.function
        if self.given is None or function is None:
            return part
        return arguments.in_words_of(function.node, part, self.given)


class _Entered(NamedTuple):
    """A call of a function of the program, and what it gives that is asked for: its result, or each that it yields."""

    call: ast.Call
    function: Function
    part: Part | None
    bound: int


def made_by(frame: Frame, expression: ast.expr) -> Making:
    """What makes what an expression gives that is read in a frame."""
    found = Making(frame, source(naming.text_of(frame), expression))
    for _ in range(_HOPS):
        inside = _inside(found)
        if inside is None:
            break
        found = inside
    return found


def in_words_of_call(frame: Frame, expression: ast.expr) -> ast.expr:
    """What a function of the program computes for an expression, in its words; the expression where that is unknown."""
    made = made_by(frame, expression)
    told = made.told(made.expression) if made.given is not None else None
    return expression if told is None else told


def _inside(found: Making) -> Making | None:
    """The same in the function that is called there; None where none is, or its text does not tell what it gives."""
    entered = _entered(found)
    if entered is None or _is_spread(entered.call):
        return None
    call, function, part, bound = entered
    given = _given(function, part)
    if given is None:
        return None
    passed = arguments.passed(function.node, call, bound)
    told = {name: one for name, value in passed.items() if (one := found.told(value)) is not None}
    return Making(_frame_of(found.frame, entered), given, told)


def _frame_of(outer: Frame, entered: _Entered) -> Frame:
    """A frame of a function as a call runs it."""
    machine, call, function = outer.machine, entered.call, entered.function
    receiver = machine.evaluate(outer, call.func).bound if entered.bound else None
    positional = [receiver.receiver] if receiver is not None else []
    positional += [machine.evaluate(outer, one) for one in call.args]
    keywords = {one.arg: machine.evaluate(outer, one.value) for one in call.keywords if one.arg is not None}
    inside = Frame(
        machine, function.module, function.offset, Summary(function.qualname), function=function, static=True
    )
    inside.env.update(parameters.bind(inside, function, positional, keywords))
    return inside


def _entered(found: Making) -> _Entered | None:
    """The call that gives what is asked for, there and then, or round by round."""
    variable, around = found.expression, naming.text_of(found.frame)
    if isinstance(variable, ast.Name):
        bound = reaching(around, variable.id, variable)
        if bound is not None and isinstance(bound.value, ast.Call):
            return _called(found, bound.value, bound.part, yields=False)
        loop = next(loops_giving(found.frame, variable, variable), None)
        made = source(around, loop.iterable) if loop is not None else None
        if loop is None or not isinstance(made, ast.Call):
            return None
        position = position_of(loop, variable)
        return _called(found, made, Part(*position) if position is not None else None, yields=True)
    return _called(found, variable, None, yields=False) if isinstance(variable, ast.Call) else None


def _called(found: Making, call: ast.Call, part: Part | None, *, yields: bool) -> _Entered | None:
    """The function of the program that a call runs, as it is written."""
    function = found.frame.function
    if found.given is not None and function is not None:
        names = (node.id for node in walk(call.func) if isinstance(node, ast.Name))
        if any(name in scope_of(function.node).local for name in names):
            return None  # of another text than the first only what is global is known
    called = found.frame.machine.evaluate(found.frame, call.func)
    function = called.bound.function if called.bound is not None else called.function
    if not isinstance(function, Function) or not isinstance(function.node, ast.FunctionDef):
        return None
    plain = not function.node.decorator_list and is_deferred(function.node) is yields
    return _Entered(call, function, part, int(called.bound is not None)) if plain else None


def _given(function: Function, part: Part | None) -> ast.expr | None:
    """What a function returns or yields at the one place where it does, or a part of it."""
    kind = ast.Yield if is_deferred(function.node) else ast.Return
    given = [one.value for one in own_scope(function.node) if isinstance(one, kind)]
    whole = source(function.node, given[0]) if len(given) == 1 and given[0] is not None else None
    if part is None:
        return whole
    parts = whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else []
    return source(function.node, parts[part.at]) if len(parts) == part.number else None


def _is_spread(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
