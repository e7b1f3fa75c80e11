"""Functions that hand a marker what they were given: their callers are looked at, with the objects that they pass.

`def run(model): return torch.compile(model)` marks nothing by itself; `run(Net())` does, and so does `Trainer(Net())`
where a method of `Trainer` compiles what its constructor stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.marks import callers, roots

if TYPE_CHECKING:
    from nonstrict.program.definitions import Function
    from nonstrict.program.machine import Machine

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
