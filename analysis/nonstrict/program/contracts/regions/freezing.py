"""Parameters of modules in a region that need gradients in some calls and in others do not: frozen, set free again.

Dynamo guards `requires_grad` of each parameter that a region reads. Only what surely is switched before one call and
not before another counts, by `requires_grad_()` of a module or by a loop over its `parameters()`, in the function that
calls the region or one that it calls for that.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.facts import arguments, succession
from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.contracts.regions import called_modules, calls, leading
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.domain.values import NESTED_MODULES, Kind
from nonstrict.program.interpret.rounds import holds, varies_in_loop
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import AbstractObject
    from nonstrict.program.state.frames import Frame

#: What the table of guards calls it.
SOURCE = "frozen parameters"
#: A parameter needs gradients or not.
_NUMBER = 2
_METHOD, ATTRIBUTE = "requires_grad_", "requires_grad"
#: Methods of modules that give their parameters, and those of the modules in them.
_PARAMETERS = frozenset({"parameters", "named_parameters"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
#: How many functions lie between a call of a region and a switch in front of it, at most.
_HOPS = 2
_NONE = frozenset[bool]()


class _Written(NamedTuple):
    """A switch as it is written: of the parameters of which module, and to what.

    `whole` is the loop over the parameters, where there is one: conditions in it choose among them.
    """

    node: ast.AST
    module: ast.expr
    to: ast.expr
    whole: ast.AST


class _Switch(NamedTuple):
    """A switch that runs in a text, where the text runs it: of which module, and to what.

    `to` is None where that is not known; `told` is then what says it.
    """

    node: ast.AST
    module: ast.expr
    held: AbstractObject
    to: bool | None
    told: ast.expr | None


def observed(region: Interpreted) -> Iterator[tuple[Observed, int]]:
    """A call of a region of whose modules parameters are frozen in some calls and not in others, for each module."""
    made = [(frame, node) for frame, node, _, _ in calls.of(region) if isinstance(node, ast.Call)]
    texts = region.machine.part(_Texts)
    switches = [one for frame in leading.frames(region) for one in texts.switches(frame)]
    own = _modules(region) if switches else _NONE
    for one in {id(each.held): each for each in switches}.values():
        if not own & _within(one.held):
            continue
        concerned = [(frame, call) for frame, call in made if _runs(frame, call, one.held)]
        found = [(frame, call, _states(texts, _Site(frame, call), one.held, _HOPS)) for frame, call in concerned]
        if len(_NONE.union(*(states for _, _, states in found))) == _NUMBER:
            frame, call, _ = next(each for each in reversed(found) if False in each[2])
            place = AccessPath(Root.UNKNOWN, "", f"{ast.unparse(one.module)}.{ATTRIBUTE}")
            effect = Effect(Event.GUARD, frame.module.path, frame.offset, call, place, how=Use.ARITHMETIC)
            yield Observed(effect, (), in_hook=False), _NUMBER


class _Site(NamedTuple):
    """A call, and the frame that makes it."""

    frame: Frame
    call: ast.AST


class _Texts:
    """The switches of the texts of a program, each read once: many regions may be called by one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Frame, list[_Switch]]] = {}

    def switches(self, frame: Frame) -> list[_Switch]:
        """The switches that the text of a frame runs."""
        if id(frame) not in self._known:
            self._known[id(frame)] = frame, list(_switches(frame))
        return self._known[id(frame)][1]


def _runs(frame: Frame, call: ast.Call, held: AbstractObject) -> bool:
    """Whether a call may run a module: it calls a function, that module, one in it, or one that it is in."""
    called = frame.machine.evaluate(frame, call.func)
    if called.kind is not Kind.MODULE or called.heap is None:
        return True
    return id(held) in _within(called.heap) or id(called.heap) in _within(held)


# -- what a call meets ------------------------------------------------------------------------------------------------


def _states(texts: _Texts, site: _Site, held: AbstractObject, hops: int) -> frozenset[bool]:
    """Whether parameters of a module need gradients where a text comes to a call; none where it is not known."""
    around, call = naming.text_of(site.frame), site.call
    switches = [one for one in texts.switches(site.frame) if id(held) in _within(one.held)]
    order = {node: at for at, node in enumerate(succession.in_order(around))} if switches else {}
    if switches and call not in order:
        return _NONE
    loops = [one for one in walk(around) if isinstance(one, _LOOPS) and holds(one.body, call)]
    again = {node for loop in loops for part in loop.body for node in walk(part)}
    backwards = sorted(switches, key=lambda one: -order[one.node])
    found, sure = _last(around, call, [one for one in backwards if order[one.node] < order[call]])
    if sure:
        return found
    behind = [one for one in backwards if order[one.node] > order[call] and one.node in again]
    return found | _last(around, call, behind)[0] | _at_first(texts, site.frame, held, hops)


def _last(around: ast.AST, call: ast.AST, switches: list[_Switch]) -> tuple[frozenset[bool], bool]:
    """What the last of some switches leave, the last one first, and whether one surely runs each time.

    One that a condition chooses counts where that is another one in each round of a loop around the call.
    """
    found = set[bool]()
    for one in switches:
        if one.told is not None and varies_in_loop(around, call, one.told):
            return frozenset({True, False}), True
        if one.to is None:
            return _NONE, True
        tests = [node.test for node in walk(around) if isinstance(node, ast.If) and _chooses(node, one.node, call)]
        if not tests:
            return frozenset({*found, one.to}), True
        if not all(varies_in_loop(around, call, test) for test in tests):
            return _NONE, True
        found.add(one.to)
    return frozenset(found), False


def _chooses(branch: ast.If, node: ast.AST, call: ast.AST) -> bool:
    return any(holds(part, node) and not holds(part, call) for part in (branch.body, branch.orelse))


def _at_first(texts: _Texts, frame: Frame, held: AbstractObject, hops: int) -> frozenset[bool]:
    """What the parameters of a module are where a text begins: as its callers leave them; they need gradients."""
    outer = callers.calls_of_function(frame.machine, frame.function) if frame.function is not None and hops else []
    told = [_states(texts, _Site(there, node), held, hops - 1) for there, node, _, _ in outer]
    return _NONE.union(*told) if told else frozenset({True})


# -- what switches ----------------------------------------------------------------------------------------------------


def _switches(frame: Frame) -> Iterator[_Switch]:
    """The switches that a text runs: its own, and those of the functions that it calls."""
    around = naming.text_of(frame)
    for one in _written(around):
        yield from _read(frame, one.node, one.module, one.to)
    for call in own_scope(around):
        if isinstance(call, ast.Call):
            yield from _of_helper(frame, call)


def _of_helper(frame: Frame, call: ast.Call) -> Iterator[_Switch]:
    called = frame.machine.evaluate(frame, call.func)
    function = called.bound.function if called.bound is not None else called.function
    if not isinstance(function, Function):
        return
    written = [one for one in _written(function.node) if succession.surely_runs(function.node, one.whole)]
    passed = arguments.passed(function.node, call, int(called.bound is not None)) if written else {}
    ordered = (*function.node.args.posonlyargs, *function.node.args.args)
    if called.bound is not None and isinstance(call.func, ast.Attribute) and ordered:
        passed[ordered[0].arg] = call.func.value
    for one in written:
        module, to = (arguments.in_words_of(function.node, part, passed) for part in (one.module, one.to))
        if module is not None:
            yield from _read(frame, call, module, to)


def _read(frame: Frame, node: ast.AST, module: ast.expr, to: ast.expr | None) -> Iterator[_Switch]:
    held = frame.machine.evaluate(frame, module)
    if held.kind is Kind.MODULE and held.heap is not None:
        told = frame.machine.evaluate(frame, to).const if to is not None else None
        yield _Switch(node, module, held.heap, told if isinstance(told, bool) else None, to)


def _written(around: FunctionNode | ast.Module) -> tuple[_Written, ...]:
    """The switches that a text writes: of a module as a whole, or of its parameters one by one."""
    return remembered(around, "_nonstrict_switches", lambda text: tuple(_writing(text)))


def _writing(around: FunctionNode | ast.Module) -> Iterator[_Written]:
    nodes = list(own_scope(around))
    loops = [loop for loop in nodes if isinstance(loop, ast.For) and _owner(loop.iter) is not None]
    for node in nodes:
        for target, to in _targets(node):
            loop = next((one for one in loops if holds(one.body, node) and _is_target(one.target, target)), None)
            module = _owner(loop.iter) if loop is not None else target
            if module is not None:
                yield _Written(node, module, to, loop if loop is not None else node)


def _targets(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement or call says of which tensor or module, whether it needs gradients."""
    if isinstance(node, ast.Assign):
        members = (one for one in node.targets if isinstance(one, ast.Attribute) and one.attr == ATTRIBUTE)
        yield from ((one.value, node.value) for one in members)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _METHOD:
        told = [*node.args, *(keyword.value for keyword in node.keywords)]
        yield node.func.value, told[0] if told else ast.Constant(value=True)


def _owner(iterated: ast.expr) -> ast.expr | None:
    """The module over whose parameters a loop runs."""
    is_method = isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute)
    named = iterated.func if is_method and isinstance(iterated, ast.Call) else None
    return named.value if isinstance(named, ast.Attribute) and named.attr in _PARAMETERS else None


def _is_target(target: ast.expr, name: ast.expr) -> bool:
    return isinstance(name, ast.Name) and any(isinstance(one, ast.Name) and one.id == name.id for one in walk(target))


# -- which modules ----------------------------------------------------------------------------------------------------


def _modules(region: Interpreted) -> frozenset[int]:
    """The modules that a region calls, and those that it is compiled of."""
    layers = [seen.effect for seen in region.observed(Event.LAYER)]
    compiled = called_modules.compiled(region)
    own = [*compiled, *(one for of in compiled for layer in layers for one in called_modules.called(region, layer, of))]
    return frozenset(id(one.heap) for one in own if one is not None and one.heap is not None)


def _within(held: AbstractObject, depth: int = 0) -> frozenset[int]:
    """A module and those that it holds."""
    inner = [one for one in (*held.attributes.values(), *held.items.values()) if one.kind is Kind.MODULE]
    deeper = (one.heap for one in inner if one.heap is not None and depth < NESTED_MODULES)
    return frozenset({id(held)}).union(*(_within(one, depth + 1) for one in deeper))
