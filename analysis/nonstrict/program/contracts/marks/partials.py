"""Arguments that `functools.partial` binds to a function before a marker is given it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.discovery import callers

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Mark
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine


def bound_arguments(machine: Machine, mark: Mark) -> dict[str, Value]:
    """For each parameter that a partial binds, its value; a parameter of the function around is what callers pass."""
    function, target = mark.function, mark.target
    if function is None or target.partial is None:
        return {}
    _, first, named = target.partial
    arguments = function.node.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    names = {*positional, *(argument.arg for argument in arguments.kwonlyargs)}
    given = {**dict(zip(positional, first, strict=False)), **dict(named)}
    return {name: callers.resolved(machine, value, mark.within) for name, value in given.items() if name in names}


def left_open(target: Value, arguments: ast.arguments) -> ast.arguments:
    """The parameters of a function without those that a partial of it binds."""
    if target.partial is None:
        return arguments
    _, first, named = target.partial
    names = {name for name, _ in named}
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
    kept = [pair for pair in list(zip(positional, defaults, strict=True))[len(first) :] if pair[0].arg not in names]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    kept_keywords = [pair for pair in keywords if pair[0].arg not in names]
    return ast.arguments(
        posonlyargs=[],
        args=[one for one, _ in kept],
        vararg=arguments.vararg,
        kwonlyargs=[one for one, _ in kept_keywords],
        kw_defaults=[default for _, default in kept_keywords],
        kwarg=arguments.kwarg,
        defaults=[default for _, default in kept if default is not None],
    )
