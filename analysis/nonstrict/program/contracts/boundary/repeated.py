"""How often what a call passes is another value: by loops around the call, and around those of the function it is in.

`step(x, rate / 2)` where that function is given another rate each time, `self.steps += 1; step(x, self.steps)` in a
method that is called in a loop, `step(x, random.random())`.
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.reaching import source
from nonstrict.facts.scopes import is_as_passed, scope_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.boundary import drawing, reading
from nonstrict.program.contracts.regions import looped
from nonstrict.program.discovery import callers
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import Kind, any_of_kind
from nonstrict.program.interpret import rounds
from nonstrict.program.objects import naming
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

#: How many callers up is asked.
_HOPS = 2
_Loop = ast.For | ast.AsyncFor | ast.While


class _Times:
    """How many values calls pass, by what decides on that."""

    def __init__(self) -> None:
        self.known: dict[tuple[Frame, ast.AST, ast.expr, int, int], int] = {}


def times(machine: Machine, one: Passing, counting: int, hops: int = _HOPS) -> int:
    """How many values a call passes, as far as loops tell; 0 where none gives it another one.

    `counting` is said of loops that count up to what is not known.
    """
    if one.expression is None:
        return 0
    known, key = machine.part(_Times).known, (one.frame, one.node, one.expression, counting, hops)
    if key not in known:
        known[key] = _found_times(machine, one, one.expression, counting, hops)
    return known[key]


def _found_times(machine: Machine, one: Passing, expression: ast.expr, counting: int, hops: int) -> int:
    here = rounds.rounds(one.frame, one.node, expression, counting)
    listed = looped.entries(one.frame, one.node, expression) if here else ()
    if listed and all(isinstance(entry, ast.Constant) for entry in listed):
        different = len({ast.dump(entry) for entry in listed})
        return different if different > 1 else 0
    if here or not hops:
        return here
    own = max(_drawn(one), reading.in_rounds(one.frame, one.node, expression))
    return max((own, *_of_callers(machine, one, counting, hops)))


def times_made(machine: Machine, one: Passing, counting: int) -> int:
    """The same, told by what a call passes, or by the expression that this is bound to."""
    if one.expression is None:
        return 0
    made = one._replace(expression=source(naming.text_of(one.frame), one.expression))
    return max(times(machine, shown, counting) for shown in (one, made))


def times_anew(one: Passing) -> int:
    """How often a call is made with something that its text makes anew for it, as far as loops and callers tell."""
    if one.expression is None:
        return 0
    around, function = naming.text_of(one.frame), one.frame.function
    made = source(around, one.expression)
    if function is not None and is_as_passed(function.node, ast.unparse(made)):
        return 1
    loops = [loop for loop in walk(around) if isinstance(loop, _Loop) and rounds.in_rounds(loop, one.node)]
    here = prod(turns(one.frame, loop, rounds.MANY) for loop in loops if rounds.in_rounds(loop, made))
    outer = calls(one.frame.machine, function, rounds.MANY) if function is not None else 1
    return min(here * max(outer, 1), rounds.MANY)


def _drawn(one: Passing) -> int:
    """A number that is drawn, or read from a clock, in each round of a loop."""
    nodes = {effect.node for effect in one.value.taint if effect.event is Event.RANDOM}
    return _of_drawn(one.frame, one.expression, nodes, _in_rounds(one.frame, one.node, nodes)) if one.expression else 0


def draws(frame: Frame, place: ast.AST, number: ast.expr) -> int:
    """How many values a number has in a text that draws it: in a loop around a place, or in each call of a function."""
    around = naming.text_of(frame)
    made = source(around, number)
    parts = [made, *(source(around, node) for node in walk(made) if isinstance(node, ast.Name))]
    told = [frame.machine.evaluate(frame, one) for one in parts]
    drawn = {one.node for value in told for one in value.taint if one.event is Event.RANDOM}
    if not drawn:
        return reading.in_rounds(frame, place, number)
    own = frame.function is not None and any(node in drawn for node in walk(around))
    times = calls(frame.machine, frame.function, rounds.MANY) if own and frame.function is not None else 0
    return _of_drawn(frame, made, drawn, times if times > 1 else _in_rounds(frame, place, drawn))


def _of_drawn(frame: Frame, made: ast.expr, drawn: set[ast.AST], times: int) -> int:
    """How many values an expression has that is drawn so many times, at one place."""
    return drawing.number(frame, made, next(iter(drawn)), times) if len(drawn) == 1 else min(times, rounds.SOME)


def _in_rounds(frame: Frame, place: ast.AST, nodes: set[ast.AST]) -> int:
    """How often a loop runs that comes to a place and to one of some nodes."""
    loops = (loop for loop in walk(naming.text_of(frame)) if isinstance(loop, _Loop)) if nodes else ()
    both = [loop for loop in loops if rounds.in_rounds(loop, place)]
    return max((turns(frame, loop, rounds.MANY) for loop in both if _holds_any(loop, nodes)), default=0)


def _holds_any(loop: _Loop, nodes: set[ast.AST]) -> bool:
    return any(rounds.in_rounds(loop, node) for node in nodes)


def _of_callers(machine: Machine, one: Passing, counting: int, hops: int) -> Iterator[int]:
    """What the calls of the function give in which a call stands: by its parameters, by what it counts each time."""
    function, expression = one.frame.function, one.expression
    if function is None or expression is None:
        return
    made = source(function.node, expression)
    for name in sorted({node.id for node in walk(made) if isinstance(node, ast.Name)}):
        if is_as_passed(function.node, name):
            passed = callers.passings(machine, function, name)
            number = max((times(machine, outer, counting, hops - 1) for outer in passed), default=0)
            yield number if rounds.tells_apart(one.frame, made, {name}) else min(number, rounds.SOME)
    if rounds.mentions(made, _counted(one.frame, function)):
        number = calls(machine, function, counting)
        apart = rounds.tells_apart(one.frame, made, _counted(one.frame, function, apart=True))
        yield number if apart else min(number, rounds.SOME)


def value_made(machine: Machine, one: Passing) -> Value:
    """What a call passes, where that follows from what the function is given in which the call stands."""
    function, expression = one.frame.function, one.expression
    if one.value.kind is not Kind.UNKNOWN or function is None or expression is None:
        return one.value
    frame = Frame(
        machine, one.frame.module, one.frame.offset, Summary(function.qualname), function=function, static=True
    )
    passed = ((name, callers.handed_to(machine, function, name)) for name in scope_of(function.node).parameters)
    frame.env.update({name: any_of_kind(value) for name, value in passed if value is not None})
    return machine.evaluate(frame, source(function.node, expression))


def _counted(frame: Frame, function: Function, *, apart: bool = False) -> set[str]:
    """What lives longer than a call of a function, and is counted in each: `self.steps += 1`."""
    scope = scope_of(function.node)
    made = scope.local - set(scope.parameters)
    counted = rounds.counted_in(frame, [*walk(function.node)], apart=apart)
    return {one for one in counted if one not in scope.local and one.partition(".")[0] not in made}


def calls(machine: Machine, function: Function, counting: int, hops: int = _HOPS) -> int:
    """How often a function is called, as far as its calls, and the loops around them, tell."""
    found = 0
    for node, frame in {node: frame for frame, node, _, _ in callers.calls_of_function(machine, function)}.items():
        loops = (loop for loop in walk(naming.text_of(frame)) if isinstance(loop, _Loop))
        around = [turns(frame, loop, counting) for loop in loops if rounds.in_rounds(loop, node)]
        outer = calls(machine, frame.function, counting, hops - 1) if frame.function is not None and hops else 1
        found += prod(around) * max(outer, 1)
    return min(found, rounds.MANY)


def turns(frame: Frame | None, loop: _Loop, counting: int) -> int:
    """How often a loop runs; one over what its function is given, as often as those who call that pass something."""
    number = rounds.turns(frame, loop, counting)
    name = loop.iter.id if not isinstance(loop, ast.While) and isinstance(loop.iter, ast.Name) else ""
    if frame is None or frame.function is None or name not in scope_of(frame.function.node).parameters:
        return number
    given = [(one.frame, one.expression) for one in callers.passings(frame.machine, frame.function, name)]
    return max((rounds.length(there, node, counting) for there, node in given if node is not None), default=number)
