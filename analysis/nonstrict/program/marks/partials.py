"""Arguments that `functools.partial` binds to a function before a marker is given it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.marks import callers
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from nonstrict.program.definitions import Mark
    from nonstrict.program.machine import Machine
    from nonstrict.program.values import Value


def bound_arguments(machine: Machine, mark: Mark) -> dict[str, Value]:
    """For each parameter that a partial binds, its value; a parameter of the function around is what callers pass."""
    function, target = mark.function, mark.target
    if function is None or target.kind is not Kind.PARTIAL:
        return {}
    _, first, named = target.ref
    arguments = function.node.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    names = {*positional, *(argument.arg for argument in arguments.kwonlyargs)}
    given = {**dict(zip(positional, first, strict=False)), **dict(named)}
    return {name: callers.resolved(machine, value, mark.within) for name, value in given.items() if name in names}
