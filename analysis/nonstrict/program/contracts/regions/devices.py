"""Where regions compute: whether their calls pass tensors of the CPU only, and what says where tensors are made.

A tensor is made on the CPU where nothing says otherwise: no `device`, no default of the program's
(`nonstrict.program.objects.placement`).
"""

from __future__ import annotations

import ast
import itertools
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.walk import own_scope
from nonstrict.program.contracts.regions import calls, reading
from nonstrict.program.contracts.regions.assigned import is_named, modules_naming
from nonstrict.program.contracts.regions.computed_of import Origin, origins, source
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.program.objects import naming, placement
from nonstrict.program.objects.naming import names_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.texts import Root
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

#: What says where tensors are made that are not told: a call, or a context manager.
_DEFAULTS = ("set_default_device", "set_default_tensor_type")
_DEVICE = "torch.device"
#: By what code reaches attributes that it does not name.
_REACHING = ("setattr", "vars", "__dict__", "_apply")
_BLOCKS = (ast.With, ast.AsyncWith)
#: How many expressions a tensor is followed through, at most.
_STEPS = 12


def is_on_cpu(region: Interpreted) -> bool:
    """Whether calls of a region were seen, and all tensors that they pass are on the CPU."""
    there = list(_calls_on_cpu(region))
    return bool(there) and all(there) and not has_default(region)


def may_be_on_cpu(region: Interpreted) -> bool:
    """Whether a call of a region passes tensors of the CPU only."""
    return any(_calls_on_cpu(region))


def is_passed_from_cpu(region: Interpreted, name: str) -> bool:
    """Whether a call of a region passes a tensor of the CPU for a parameter."""
    known = _known(region)
    return any(known.holds(Origin(frame, one)) for frame, _, one in calls.given(region, name))


def _calls_on_cpu(region: Interpreted) -> Iterator[bool]:
    """Of each call of a region that passes tensors, whether all of them are on the CPU."""
    known = _known(region)
    for passed in _passed(region):
        there = [is_made_there(value) or (one is not None and known.holds(one)) for one, value in passed]
        if there:
            yield all(there)


def _known(region: Interpreted) -> _OnCpu:
    return _OnCpu(frozenset(node for _, node, _, _ in calls.of(region)))


def is_made_there(value: Value) -> bool:
    """Whether a value surely is a tensor on the CPU, where tensors are made that are not told."""
    return all(bool(one.flags & Flag.ON_CPU) for one in value.alternatives())


def has_default(region: Interpreted) -> bool:
    """Whether the program says where tensors are made that are not told, for all of it or around what is run here."""
    machine = region.machine
    if any(is_named(machine, one, region.mark.path) for one in _DEFAULTS):
        return True
    for frame in {naming.text_of(frame): frame for frame, _, _, _ in calls.of(region)}.values():
        entered = _entered(naming.text_of(frame), naming.names_at(frame), partial(machine.evaluate, frame))
        if _DEVICE in (name for name, _ in entered):
            return True
    return any(_enters_device(machine, one) for one in _functions(region))


def _functions(region: Interpreted) -> Iterator[Function]:
    """The functions that a region runs."""
    for reached in reachable(region.summary):
        function = reached.summary.definition if reached.chain else region.mark.function
        if function is not None:
            yield function


def _passed(region: Interpreted) -> Iterator[list[tuple[Origin | None, Value]]]:
    """What each call passes that may be a tensor, and the expression of it."""
    for frame, node, positional, keywords in calls.of(region):
        args, named = (node.args, node.keywords) if isinstance(node, ast.Call) else ([], [])
        by_name = {one.arg: one.value for one in named if one.arg is not None}
        bound = max(len(positional) - len(args), 0)  # what a method is called on
        given = [*itertools.zip_longest([*itertools.repeat(None, bound), *args[: len(positional)]], positional)]
        given += [(by_name.get(name), value) for name, value in keywords.items()]
        yield [
            (Origin(frame, one) if one is not None else None, value)
            for one, value in given
            if value is not None and _may_be_tensor(value)
        ]


class _OnCpu:
    """Tells of tensors whether they surely are on the CPU, through calls of functions and rounds of loops.

    `runs` are calls that compute a tensor where what they are given is.
    """

    def __init__(self, runs: frozenset[ast.AST]) -> None:
        self._runs = runs
        self._known: dict[tuple[ast.AST, ast.expr], bool] = {}

    def holds(self, one: Origin, steps: int = _STEPS) -> bool:
        """Whether what an expression gives is there."""
        at = naming.text_of(one.frame), one.expression
        if at not in self._known:
            self._known[at] = True  # of what is computed of itself, in a loop, the rest decides
            self._known[at] = is_made_there(one.value) or (bool(steps) and self._is_of_such(one, steps - 1))
        return self._known[at]

    def _is_of_such(self, one: Origin, steps: int) -> bool:
        call = one.call
        if call is not None:
            known, named = called(naming.names_at(one.frame), call), {each.arg: each.value for each in call.keywords}
            if placement.is_moved(known, [name for name in named if name is not None]):
                device = named.get("device", next(iter(call.args), None))
                told = source(Origin(one.frame, device)).value if device is not None else None
                return placement.is_cpu(known, told)
        found = origins(one, self._runs.__contains__)
        return bool(found) and all(self.holds(each, steps) for each in found)


def _may_be_tensor(value: Value) -> bool:
    return any(one.kind is Kind.UNKNOWN or one.is_tensor for one in value.alternatives())


def may_move(region: Interpreted) -> bool:
    """Whether code of the program may put tensors elsewhere that objects hold, or those that are made within it."""
    machine, path = region.machine, region.mark.path
    may = machine.part(_Moving).may
    if path not in may:
        may[path] = any(is_named(machine, one, path) for one in _REACHING) or any(_may_enter_device(machine, path))
    return may[path]


class _Moving:
    """What was found out about programs, by a file that they run."""

    def __init__(self) -> None:
        self.may: dict[str, bool] = {}


def _may_enter_device(machine: Machine, path: str) -> Iterator[bool]:
    """Whether each `with` may enter a device, in the files that name any: one, or what is not known and no call."""
    for module in modules_naming(machine, _DEVICE.rpartition(".")[2], path):
        for text in reading.texts(module, ("with",)):
            names, value = names_below(machine, module, text), partial(reading.value, machine, module, text)
            for name, item in _entered(text, names, value):
                yield name == _DEVICE or not (name or isinstance(item, ast.Call))


def _enters_device(machine: Machine, function: Function) -> bool:
    """Whether something is done in a function within `with torch.device(...)`."""
    value = partial(reading.value, machine, function.module, function.node)
    entered = _entered(function.node, naming.names_in(machine, function), value)
    return _DEVICE in (name for name, _ in entered)


def _entered(text: Root, names: Names, value: Callable[[ast.expr], Value]) -> Iterator[tuple[str, ast.expr]]:
    """What the blocks of a text enter, with the dotted name of the class, or of the function that makes it, if known.

    `value` tells what an expression of the text stands for.
    """
    for item in (item for one in own_scope(text) if isinstance(one, _BLOCKS) for item in one.items):
        made = reading.made(text, item.context_expr)
        name = names(made.func) if isinstance(made, ast.Call) else ""
        yield name or value(item.context_expr).dotted, made
