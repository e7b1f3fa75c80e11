"""How the values vary that a compiled region gets and passes on: loops around its calls, and different constants."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.execution import is_main_guard
from nonstrict.facts.memo import remembered
from nonstrict.facts.reaching import source
from nonstrict.facts.scopes import is_as_passed
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary import boundary_values, repeated
from nonstrict.program.contracts.regions import options
from nonstrict.program.discovery import callers
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.rounds import MANY, SOME, grows, holds, over, turns, varies_in_loop
from nonstrict.program.objects import iteration, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: How many helpers lie between a call of a region and what is known, at most.
_HOPS = 2
#: Options that say how often a function is compiled anew; calls after which nothing is compiled.
_LIMITS = ("recompile_limit", "cache_size_limit")
_RESETS = frozenset({"torch._dynamo.reset", "torch.compiler.reset", "torch._dynamo.reset_code_caches"})
_DEQUE = "collections.deque"
_COPIES = frozenset({"builtins.list", "builtins.tuple"})
_SEVERAL = "called with several values here"


class Variation(NamedTuple):
    """How many values an argument takes, as far as the calls of the region tell, and one such call.

    `static` says that the region is compiled with `dynamic=False`, `unrolled` that a loop in the region makes them,
    `grows` that it is a container to which something is added between the calls. `kept` names the attribute of an
    object that varies, which the registration of its class keeps in the context. `kinds` are those of the values,
    `follows` names the parameter of the region from which the argument is made, where it is not handed on as it is.
    `unlimited` says that the program raises the number of compilations, or drops what was compiled between the calls.
    """

    values: int = 0
    static: bool = False
    unrolled: bool = False
    grows: bool = False
    evidence: tuple[Related, ...] = ()
    kept: str = ""
    kinds: frozenset[Kind] = frozenset()
    follows: str = ""
    unlimited: bool = False


def variation(body: Interpreted, argument: BoundaryArgument) -> Variation:
    """How the value of an argument of a marked function varies from call to call of the region."""
    site = argument.site
    call = site.call if site is not None else None
    caller = call.caller if call is not None else None
    if site is None or call is None or caller is None:
        return Variation()
    expression = boundary_values.argument_node(site, argument.span)
    if expression is not None and varies_in_loop(caller.node, call.node, expression):
        return Variation(SOME, unrolled=True)
    name = boundary_values.handed_on(site, argument.span)
    if name:
        return _of_parameter(body.machine, caller, name)
    names = boundary_values.parameters_in(site, argument.span)
    found = [_of_parameter(body.machine, caller, one)._replace(follows=one) for one in names]
    texts = [one for one in found if set(one.kinds) == {Kind.STRING}]
    return max(texts, key=lambda one: one.values, default=Variation())


def _of_parameter(machine: Machine, region: Function, name: str) -> Variation:
    """How the values vary that calls of a region pass for one of its parameters."""
    calls = list(callers.passings(machine, region, name))
    passed = [one._replace(value=value) for one in calls for value in _handed(machine, one, _HOPS)]
    count, growing = distinct(machine, passed), growing_by(machine, region, name)
    static = compiled_with(machine, region, "dynamic", value=False)
    seen = (Related(span_of(one.frame.module.path, one.frame.offset, one.node), _SEVERAL) for one in passed[:1])
    kinds = frozenset(value.kind for one in passed for value in one.value.alternatives())
    raised = any(options.is_set(machine, option, region.module.path) for option in _LIMITS)
    unlimited = raised or any(drops(one.frame) for one in passed)
    return Variation(max(count, growing), static, False, growing > 0, tuple(seen), "", kinds, "", unlimited)


def _handed(machine: Machine, passing: Passing, hops: int) -> list[Value]:
    """What a call passes; where a helper makes it, what the helper is given: by itself, or in what it loops over."""
    function, expression = passing.frame.function, passing.expression
    if function is None or not isinstance(expression, ast.Name) or key_of(passing.value) is not None or not hops:
        return [passing.value]
    over = _looped_over(function.node, expression.id)
    source = over or expression.id
    outer = list(callers.passings(machine, function, source)) if is_as_passed(function.node, source) else []
    given = [(one.frame, value) for one in outer for value in _handed(machine, one, hops - 1)]
    if not over:
        return [value for _, value in given] or [passing.value]
    entries = [iteration.entries(frame, value) for frame, value in given]
    return [value for found in entries for value in found or ()] if entries and None not in entries else [passing.value]


def _looped_over(around: ast.AST, name: str) -> str:
    """The variable over whose elements a loop or comprehension runs that gives each the name; "" if there is none."""
    return remembered(around, "_nonstrict_looped_over", _looping).get(name, "")


def _looping(around: ast.AST) -> dict[str, str]:
    """For each variable of loops of a text the one that the first of them runs over."""
    found: dict[str, str] = {}
    for loop in walk(around):
        if not isinstance(loop, (ast.For, ast.comprehension)):
            continue
        if isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Name):
            found.setdefault(loop.target.id, loop.iter.id)
    return found


@dataclass(eq=False)
class _Resets:
    """By text, whether it has torch forget what it compiled: many regions may be called by one."""

    known: dict[ast.AST, bool] = field(default_factory=dict)


def drops(frame: Frame) -> bool:
    """Whether code around a call has torch forget what it compiled."""
    known, around = frame.machine.part(_Resets).known, naming.text_of(frame)
    if around not in known:
        names = naming.names_at(frame)
        known[around] = any(isinstance(node, ast.Call) and names(node.func) in _RESETS for node in walk(around))
    return known[around]


def given_expressions(machine: Machine, region: Function, name: str) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    """The calls of a region that were seen, each with what it passes for one parameter."""
    arguments = region.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    for frame, node, positional, _ in callers.seen_calls(machine, region):
        if not isinstance(node, ast.Call):
            continue
        bound = len(positional) - len(node.args)
        index = names.index(name) - bound if name in names else -1
        if 0 <= index < len(node.args):
            yield frame, node, node.args[index]
        else:
            yield from ((frame, node, keyword.value) for keyword in node.keywords if keyword.arg == name)


def count(machine: Machine, function: Function, name: str, *, counting: int) -> int:
    """How many values calls pass for a parameter of a function; `counting` as for `growing_by`."""
    return number(machine, callers.passings(machine, function, name), counting)


def number(machine: Machine, calls: Iterable[Passing], counting: int) -> int:
    """How many values calls pass; where a helper makes one, what the helper is given."""
    passed = [one._replace(value=value) for one in calls for value in _handed(machine, one, _HOPS)]
    return distinct(machine, passed, counting)


def handed(machine: Machine, calls: Iterable[Passing]) -> list[Value]:
    """What calls pass; where a helper makes one, what the helper is given."""
    return [value for one in calls for value in _handed(machine, one, _HOPS)]


def is_chosen(frame: Frame, call: ast.AST) -> bool:
    """Whether a condition decides on a call, other than whether the file runs as a program."""
    if frame.function is not None:
        return call in frame.chosen
    conditions = (one for one in walk(frame.module.outline.shell) if isinstance(one, ast.If))
    return any(holds([*one.body, *one.orelse], call) for one in conditions if not is_main_guard(one))


def distinct(machine: Machine, passed: list[Passing], counting: int = SOME) -> int:
    """How many values calls pass: those that are known one by one, and of others what the loops around them give.

    `counting` as for `growing_by`.
    """
    known, told, untold = set[object](), set[str](), set[str]()
    rounded: dict[ast.AST | str, int] = {}
    for node in dict.fromkeys(one.node for one in passed):
        here = [one for one in passed if one.node is node]
        constants = {_constant(machine, one.value) for one in here}
        texts = {ast.dump(one.expression) for one in here if one.expression is not None}
        chosen = any(node in one.frame.chosen for one in here)
        times = max(repeated.times(machine, one, counting) for one in here)
        if None not in constants and (len(constants) > 1 or not times) and not chosen:
            known, told = known | constants, told | texts
        elif times:
            same = next((over(one.frame, node, one.expression) for one in here if one.expression is not None), "")
            rounded[same or node] = min(times, SOME) if chosen else times
        else:
            untold |= texts
    # what is not known where a variable is passed may be what it holds elsewhere
    return len(known) + len(untold - told) + sum(rounded.values())


def _constant(machine: Machine, value: Value) -> object | None:
    """What is known of a value that tells it apart from others; of an object, what its attributes hold."""
    if value.kind is Kind.OBJECT and value.heap is not None and value.heap.attributes:
        held = {name: key_of(one) for name, one in value.heap.attributes.items()}
        return None if None in held.values() else (id(value.ref), tuple(sorted(held.items())))
    return None if machine.mutations.is_rebound(value.place) else key_of(value)


def growing_by(machine: Machine, region: Function, name: str, counting: int = SOME) -> int:
    """How often a loop adds to a container and calls the region with it; 0 if none does.

    `counting` is said of loops that count up to what is not known.
    """
    found = 0
    for frame, call, expression in given_expressions(machine, region, name):
        around, grown = naming.text_of(frame), _copied(frame, expression)
        spelled = ast.unparse(grown) if isinstance(grown, (ast.Name, ast.Attribute)) else ""
        for loop in walk(around) if spelled else ():
            is_loop = isinstance(loop, (ast.For, ast.AsyncFor, ast.While))
            if is_loop and holds(loop.body, call) and grows(loop, spelled):
                found = max(found, min(turns(frame, loop, counting), _most(frame, grown)))
    return found


def _copied(frame: Frame, expression: ast.expr) -> ast.expr:
    """What a list is made of that has as many elements: `list(frames)`."""
    copies = isinstance(expression, ast.Call) and naming.names_at(frame)(expression.func) in _COPIES
    only = copies and isinstance(expression, ast.Call) and len(expression.args) == 1
    return expression.args[0] if only and isinstance(expression, ast.Call) else expression


def _most(frame: Frame, grown: ast.expr) -> int:
    """How many lengths a container has at most, as far as its text says that: `deque(maxlen=4)`."""
    made = source(naming.text_of(frame), grown)
    told = [one.value for one in made.keywords if one.arg == "maxlen"] if isinstance(made, ast.Call) else []
    told += made.args[1:2] if isinstance(made, ast.Call) and naming.names_at(frame)(made.func) == _DEQUE else []
    bounds = [frame.machine.evaluate(frame, one).const for one in told]
    return min((max(one, 1) for one in bounds if isinstance(one, int)), default=MANY) if told else MANY


def compiled_with(machine: Machine, region: Function, option: str, *, value: bool) -> bool:
    """Whether a region is compiled with an option of `torch.compile`, such as `dynamic=False`."""
    compiled = machine.regions.get(region.node)
    return compiled is not None and getattr(compiled.options, option) is value
