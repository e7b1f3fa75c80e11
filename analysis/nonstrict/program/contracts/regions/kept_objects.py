"""In how many calls one after the other a region is given the same object, and so meets what it left there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import is_as_passed, receiver_of, scope_of
from nonstrict.facts.steps import may_meet, steps_of
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary import varying
from nonstrict.program.contracts.regions import between, calls
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.interpret.rounds import MANY, length, turns
from nonstrict.program.mutations.writes import writes_within
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.facts.steps import Steps
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_Loop = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
#: How many functions hand on an object to a region, at most.
_HOPS = 2
_GIVEN = "called with the same object here"


class Kept(NamedTuple):
    """The calls with one object: how many, `MANY` where nothing bounds them, and where they are."""

    calls: int
    evidence: tuple[Related, ...] = ()


#: What is not an argument is the same in all calls.
_ALL = Kept(MANY)


class _Given(NamedTuple):
    """A call and what it is given; `path` leads from that to what matters of it, `calls` are those of the region."""

    frame: Frame
    node: ast.AST
    expression: ast.expr
    path: tuple[str, ...]
    calls: frozenset[ast.AST]


def of(region: Interpreted, place: AccessPath) -> Kept:
    """The calls after which what lives at a place is still there in the next."""
    function, name = region.mark.function, region.parameter_at(place)
    if place.root is not Root.ARGUMENT or function is None:
        return _ALL
    nodes = frozenset(node for _, node, _, _ in calls.of(region))
    if name == receiver_of(function.node):
        given = {node: (frame, node, node.func) for frame, node, _, _ in calls.of(region) if isinstance(node, ast.Call)}
        if not all(_is_made_here(*one) for one in given.values()):
            return _ALL
    else:
        given = {one[1]: one for one in varying.given_expressions(region.machine, function, name)}
    told: dict[tuple[object, ...], int] = {}
    where: list[Related] = []
    for frame, node, expression in given.values():
        one = _Given(frame, node, expression, place.path, nodes)
        steps = steps_of(expression)
        key = (frame.function, *steps) if steps else (node,)
        told[key] = told.get(key, 0) + _number(one, _HOPS)
        where.append(Related(span_of(frame.module.path, frame.offset, node), _GIVEN))
    return Kept(min(max(told.values(), default=0), MANY), tuple(where[:1]))


def passed(function: Function, name: str, machine: Machine) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    """The calls of a function that were seen, each with what stands for one of its variables: a receiver, too."""
    made = callers.calls_of_function(machine, function)
    calls_of = [(frame, node) for frame, node, _, _ in made if isinstance(node, ast.Call)]
    if function.owner is not None and name == receiver_of(function.node):
        held = [(frame, node, node.func) for frame, node in calls_of]
        yield from ((frame, node, one.value) for frame, node, one in held if isinstance(one, ast.Attribute))
    elif name in scope_of(function.node).parameters:
        yield from varying.given_expressions(machine, function, name)
    elif name not in scope_of(function.node).local:
        variable = ast.Name(name, ast.Load())
        yield from ((frame, node, variable) for frame, node in calls_of if frame.module is function.module)


def times(machine: Machine, function: Function, steps: Steps, but: Callable[[Frame, ast.Call, ast.expr], bool]) -> int:
    """How many calls of a function, one after the other, find the same object behind some steps from a variable.

    Calls do not count of which `but` says so, with what stands for the variable.
    """
    return _times(machine, function, steps, but, _HOPS)


def _times(
    machine: Machine, function: Function, steps: Steps, but: Callable[[Frame, ast.Call, ast.expr], bool], hops: int
) -> int:
    made = [one for one in passed(function, steps[0], machine) if not but(*one)]
    nodes, number = frozenset(node for _, node, _ in made), 1
    for frame, node, expression in made:
        number = max(number, _number(_Given(frame, node, expression, steps[1:], nodes), _HOPS))
        held, outer = steps_of(expression), frame.function
        if hops and held and outer is not None and outer.owner is not None and held[0] == receiver_of(outer.node):
            number = max(number, _times(machine, outer, (*held, *steps[1:]), but, hops - 1))
    return number


def _is_made_here(frame: Frame, _: ast.AST, called: ast.expr) -> bool:
    """Whether what is called is bound in the function that calls it."""
    steps = steps_of(called)
    return frame.function is not None and bool(steps) and steps[0] in scope_of(frame.function.node).assigned


def _number(given: _Given, hops: int) -> int:
    """How often a call hands on one object, by the loops around it and around the calls of its function."""
    steps, frame, number = steps_of(given.expression), given.frame, 1
    root = next(iter(steps), "")
    if not root:
        return number
    around = naming.text_of(frame)
    full = (*steps, *given.path)
    for loop in reversed(list(_loops(around, given.node))):
        if _ends_in(given, around, loop, full):
            return number
        number *= _rounds(frame, loop)
    function = frame.function
    if function is None or not hops or len(steps) > 1 or not is_as_passed(function.node, root):
        return min(number, MANY)
    callers.calls_of_function(frame.machine, function)  # looks for them
    outer = varying.given_expressions(frame.machine, function, root)
    handed = (_number(_Given(*call, given.path, given.calls | {call[1]}), hops - 1) for call in outer)
    return min(number * max(handed, default=1), MANY)


def _loops(around: ast.AST, node: ast.AST) -> Iterator[_Loop]:
    """The loops in whose rounds something is, the outermost first."""
    for one in walk(around):
        if isinstance(one, _Loop) and any(inner is node for part in _repeated(one) for inner in walk(part)):
            yield one


def _repeated(loop: _Loop) -> list[ast.AST]:
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)):
        return [*loop.body]
    return [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]


def _rounds(frame: Frame, loop: _Loop) -> int:
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)):
        return turns(frame, loop, MANY)
    return length(frame, loop.generators[0].iter, MANY)


def _ends_in(given: _Given, around: ast.AST, loop: _Loop, full: tuple[str, ...]) -> bool:
    """Whether a round of a loop puts something else at a place, or takes out what the region put there."""
    frame, target = given.frame, [loop.target] if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    inside = {node for part in (*target, *_repeated(loop)) for node in walk(part)} - given.calls
    if any(isinstance(node, ast.Name) and node.id == full[0] and _is_bound(node) for node in inside):
        return True
    found = writes_within(frame.module.path, frame.offset, around, full[0])
    return any(_ends(write, full[1:]) for write in frame.machine.mutations.seen_through(found) if write.node in inside)


def _is_bound(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _ends(write: Write, path: tuple[str, ...]) -> bool:
    if not may_meet(write.steps, path):
        return False
    below = len(write.steps) > len(path)
    return isinstance(write.node, ast.Delete) if below else not between.adds(write.node)
