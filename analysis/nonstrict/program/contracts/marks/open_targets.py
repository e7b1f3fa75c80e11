"""Functions that hand a marker what they were given: their callers are looked at, with the objects that they pass.

`def run(model): return torch.compile(model)` marks nothing by itself; `run(Net())` does, and so does `Trainer(Net())`
where a method of `Trainer` compiles what its constructor stored. Where no call that was seen comes to the marker, as a
switch of the caller keeps it away, and where a mixin compiles what only its subclasses have, the function is run once
more by itself: with what calls pass, and on the objects of these classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameter_names, receiver_of
from nonstrict.program.contracts.marks import overriding
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import callers, roots
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.machine import Machine

#: What may be compiled, or hold what is.
_OBJECTS = frozenset({Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL, Kind.MODULE, Kind.OBJECT, Kind.CLASS, Kind.UNION})
#: More such functions are infrastructure, whose callers tell nothing new.
_MAX_FUNCTIONS = 200


def seek_callers(machine: Machine) -> None:
    """Interpret the callers of all such functions, and theirs, which may mark functions."""
    sought: set[Function] = set()
    while (left := [one for one in machine.handed_open if one not in sought]) and len(sought) < _MAX_FUNCTIONS:
        for function in left:
            sought.add(function)
            machine.begin()
            _seek(machine, function)
        for function in left:
            if any(site.within is function and not site.compiled for site in machine.part(Compilations).at.values()):
                machine.begin()
                _run_with_given(machine, function)


def _seek(machine: Machine, function: Function) -> None:
    # A method may be called on an object that a function made: its own name leads there.
    method = {function.name} if function.owner is not None and not function.name.startswith("__") else set[str]()
    names = callers.aliases(function) | method
    if not names <= machine.words:
        machine.words |= names
        machine.applying = {node: True for node, applies in machine.applying.items() if applies}
    roots.find_calls(machine, function.module, names)
    for name in sorted(name for name in names if name in function.module.bindings):
        for use in machine.elsewhere.users(function.module, name):
            roots.find_calls(machine, use.module, {use.name} | method)


def _run_with_given(machine: Machine, function: Function) -> None:
    """Run a function with the objects that calls pass; what decides whether it compiles stays open."""
    passed = ((name, callers.handed_to(machine, function, name)) for name in parameter_names(function.node.args))
    given = {name: value for name, value in passed if value is not None and value.kind in _OBJECTS}
    receivers = _receivers(machine, function)
    for receiver in receivers or ([None] if given else []):
        machine.static_frame(function, receiver, given)


def _receivers(machine: Machine, method: Function) -> list[Value]:
    """Objects of the classes that inherit a method; none if these are many."""
    return [
        classes.instance_at(machine, cls, AccessPath(Root.ARGUMENT, "", receiver_of(method.node)))
        for cls in overriding.inheriting(machine, method)
    ]
