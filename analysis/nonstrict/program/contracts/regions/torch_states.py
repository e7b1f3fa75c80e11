"""States of torch that calls of a region meet: with gradients and without, under autocast. Dynamo guards each of them.

Only context managers and decorators tell, around a call and around those of the functions that make it. What is not
known to leave a state as it is makes a call one of which nothing is known.

Measured on torch 2.13: what counts is the state, not who set it: `autocast("cpu")` and `autocast("cpu",
torch.bfloat16)` are one, and where it is off its `dtype` is no part of it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import is_as_passed
from nonstrict.facts.walk import walk
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.contracts.boundary import varying
from nonstrict.program.contracts.regions import calls
from nonstrict.program.contracts.regions.unbacked import bound_once
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.rounds import entries_in_loop, holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

#: What a state is, by device and as text; `_USUAL` where nothing was switched, "" for what is not known of it.
_Met = tuple[str, str]
_USUAL: _Met = ("", "as usual")
#: How many functions lie between a call of a region and what switches a state, at most.
_HOPS = 2
_SEVERAL = 2


class _Switch(NamedTuple):
    """What a context manager sets: the state that it switches `to`, or one of a `device` and its `dtype`.

    `flag`, `dtype` and `device` are parameters, with their positions. Where the flag is false the state is as usual,
    with `inverse` where it is true.
    """

    to: _Met = _USUAL
    flag: tuple[str, int] | None = None
    dtype: tuple[str, int] | None = None
    device: tuple[str, int] | str = ""
    inverse: bool = False


class State(NamedTuple):
    """A state of torch: what the table of guards calls it, and by what it is switched.

    With `asked` programs ask whether it is as usual, with `which` what it is otherwise.
    """

    source: str
    asked: str
    which: str
    switches: Mapping[str, _Switch]


_AUTOCAST = _Switch(flag=("enabled", 2), dtype=("dtype", 1), device=("device_type", 0))
_OF_DEVICE = {
    f"torch.{device}.amp.{name}": _Switch(flag=("enabled", 0), dtype=("dtype", 1), device=device)
    for device in ("cpu", "cuda")
    for name in ("autocast", "autocast_mode.autocast")
}
#: What autocast computes with where it is not told. Source: `torch.get_autocast_dtype` of torch 2.13.
_DTYPES = {"cpu": "torch.bfloat16", "cuda": "torch.float16"}
GRADIENTS = State(
    "grad and inference mode",
    "torch.is_grad_enabled()",
    "torch.is_inference_mode_enabled()",
    {
        "torch.no_grad": _Switch(("torch", "without gradients")),
        "torch.enable_grad": _Switch(_USUAL),
        "torch.inference_mode": _Switch(("torch", "inference"), ("mode", 0)),
        "torch.set_grad_enabled": _Switch(("torch", "without gradients"), ("mode", 0), inverse=True),
    },
)
AUTOCAST = State(
    "autocast and its dtype",
    "torch.is_autocast_enabled()",
    "torch.get_autocast_dtype()",
    {
        **dict.fromkeys(("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast"), _AUTOCAST),
        **_OF_DEVICE,
    },
)
_STATES = (GRADIENTS, AUTOCAST)
#: What the table of guards calls them.
SOURCES = frozenset(state.source for state in _STATES)


class _Call(NamedTuple):
    """A call, and the frame that makes it."""

    frame: Frame
    node: ast.AST


def observed(region: Interpreted) -> Iterator[tuple[str, Observed, int]]:
    """For each state that is not the same in all calls of a region: its source, a call in it, how many there are."""
    made = [_Call(frame, node) for frame, node, _, _ in calls.of(region)]
    for state in _STATES:
        met = dict(_met(state, made))
        known = {found for found in met if all(found)} or {found for found in met if found != _USUAL}
        number = len(known | {_USUAL} & met.keys())
        if number >= _SEVERAL:
            frame, node = [where for found, where in met.items() if found != _USUAL][-1]
            place = AccessPath(Root.UNKNOWN, "torch", state.asked if _USUAL in met else state.which)
            effect = Effect(Event.GUARD, frame.module.path, frame.offset, node, place, how=Use.BRANCH)
            yield state.source, Observed(effect, (), in_hook=False), number


def are_gradients_on(frame: Frame, call: ast.AST) -> bool:
    """Whether a call surely meets gradients as they are unless something is switched."""
    met = {found for found, _ in _met(_STATES[0], [_Call(frame, call)])}
    return met == {_USUAL}


def are_gradients_off(frame: Frame, call: ast.AST) -> bool:
    """Whether a call surely meets torch without gradients."""
    met = [found for found, _ in _met(_STATES[0], [_Call(frame, call)])]
    return bool(met) and all(found != _USUAL and all(found) for found in met)


def _met(state: State, made: list[_Call]) -> Iterator[tuple[_Met, _Call]]:
    """What calls meet, and where: what is entered around them, or around the calls of the functions that make them.

    A call in a region is a part of that.
    """
    known = set[ast.AST]()
    for hop in range(_HOPS + 1):
        outer: list[_Call] = []
        for call in made:
            function, machine = call.frame.function, call.frame.machine
            if function is not None and function.node in machine.regions:
                continue
            if switched := _switched(state, call):
                yield from ((found, call) for found in _set_by(switched[-1], call.frame))
                continue
            around = callers.calls_of_function(machine, function) if function is not None and hop < _HOPS else []
            outer += [_Call(frame, node) for frame, node, _, _ in around if node not in known]
            known |= {node for _, node, _, _ in around}
            if not around and not _is_set_for_good(state, call.frame):
                yield _USUAL, call
        made = outer


def _is_set_for_good(state: State, frame: Frame) -> bool:
    """Whether a module switches a state by a statement: `torch.set_grad_enabled(False)`."""
    names = naming.names_at(frame)
    made = remembered(frame.module.outline.shell, "_nonstrict_called_alone", _called_alone)
    return any(names(call.func) in state.switches for call in made)


def _called_alone(around: ast.AST) -> tuple[ast.Call, ...]:
    """The calls that are statements."""
    statements = (one.value for one in walk(around) if isinstance(one, ast.Expr))
    return tuple(one for one in statements if isinstance(one, ast.Call))


class _Entered(NamedTuple):
    """What is entered around a call, with what it switches if that is known."""

    manager: ast.expr
    switch: _Switch | None


def _switched(state: State, call: _Call) -> list[_Entered]:
    """What may switch a state around a call in the function that makes it, from outside in."""
    frame, node = call
    around = naming.text_of(frame)
    blocks = (one for one in remembered(around, "_nonstrict_with_blocks", _with_blocks) if holds(one.body, node))
    entered = [_entered(state, frame, one) for one in getattr(around, "decorator_list", ())]
    entered = [one for one in entered if one is not None and one.switch is not None]
    entered += [_entered(state, frame, item.context_expr) for block in blocks for item in block.items]
    return [one for one in entered if one is not None]


def _with_blocks(around: ast.AST) -> tuple[ast.With | ast.AsyncWith, ...]:
    return tuple(one for one in walk(around) if isinstance(one, (ast.With, ast.AsyncWith)))


def _entered(state: State, frame: Frame, manager: ast.expr) -> _Entered | None:
    """What entering a context manager may switch; None where it surely switches nothing of a state."""
    made = bound_once(frame, manager.id) if isinstance(manager, ast.Name) else None
    manager = made if made is not None else manager
    name = naming.names_at(frame)(manager.func if isinstance(manager, ast.Call) else manager)
    if name in state.switches:
        return _Entered(manager, state.switches[name])
    is_known = name.partition(".")[0] in EVER | {"torch", "builtins"}
    return None if is_known else _Entered(manager, None)


def _set_by(entered: _Entered, frame: Frame) -> Iterator[_Met]:
    """The states that a call meets in what is entered around it; none where that is not known."""
    switch, manager = entered.switch, entered.manager
    if switch is None or (isinstance(manager, ast.Call) and callers.unpacks(manager)):
        return
    for flag in _told(frame, _given(manager, switch.flag)) or ():
        if bool(flag) is switch.inverse:
            yield _USUAL
        elif switch.device:
            yield from _of_device(switch, manager, frame)
        else:
            yield switch.to


def _of_device(switch: _Switch, manager: ast.expr, frame: Frame) -> Iterator[_Met]:
    """A state of a device with its dtypes, "" for what is not known."""
    device = switch.device
    if not isinstance(device, str):
        told = _told(frame, _given(manager, device))
        device = str(told.pop()) if told is not None and len(told) == 1 else ""
    given = _given(manager, switch.dtype)
    dtypes = {_DTYPES.get(device, "")} if given is None else _told(frame, given)
    yield from ((device, str(dtype)) for dtype in dtypes or {""})


def _given(manager: ast.expr, parameter: tuple[str, int] | None) -> ast.expr | None:
    """What a call passes for a parameter, by its name or at its position."""
    if parameter is None or not isinstance(manager, ast.Call):
        return None
    name, at = parameter
    named = next((one.value for one in manager.keywords if one.arg == name), None)
    return named if named is not None else manager.args[at] if at < len(manager.args) else None


def _told(frame: Frame, expression: ast.expr | None) -> set[object] | None:
    """The constants that an expression may stand for: a loop or the calls of its function may give several."""
    if expression is None:
        return {True}
    found = {_constant(value) for value in _values(frame, expression)}
    return found if found and None not in found else None


def _constant(value: Value) -> object | None:
    return value.dotted or None if value.kind is Kind.SETTING else value.const if key_of(value) is not None else None


def _values(frame: Frame, expression: ast.expr) -> Iterable[Value]:
    """What an expression stands for, in each round of a loop and in each call of its function."""
    name = expression.id if isinstance(expression, ast.Name) else ""
    if entries := entries_in_loop(frame, expression, expression):
        return entries
    if frame.function is not None and name and is_as_passed(frame.function.node, name):
        return varying.handed(frame.machine, callers.passings(frame.machine, frame.function, name))
    return (frame.machine.evaluate(frame, expression),)
