"""Functions of the program that Dynamo is told to leave out of regions, to call at their end, or to run as they are.

`torch._dynamo.config.ignore_logging_functions.add(report)`: torch 2.13, `variables/functions.py`, asks both sets before
it looks into a function.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program.contracts.marks import marking
from nonstrict.program.contracts.regions import breaks, options
from nonstrict.program.domain.values import NONE
from nonstrict.program.interpret import invoke
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_OPTIONS = ("ignore_logging_functions", "reorderable_logging_functions")
_CONFIG = "torch._dynamo.config"


def left_out(frame: Frame, node: ast.AST, function: Function) -> Value | None:
    """What the call of a function that Dynamo does not look into gives back; None for all others."""
    if function in frame.machine.allowed:
        return invoke.promised(frame, function)
    if "disabled" in function.traits:
        breaks.emit(frame, node, breaks.DISABLED_ALONE if marking.ALONE in function.traits else breaks.DISABLED)
        return invoke.promised(frame, function)
    return NONE if _is_ignored(frame.machine, function) else None


def _is_ignored(machine: Machine, function: Function) -> bool:
    """Whether the top level of a file of the program puts a function in one of the two sets."""
    return any(
        given.function is not None and given.function.node is function.node
        for option in _OPTIONS
        for path in options.setting(machine, option)
        if (module := machine.project.module(path)) is not None
        for argument in _given(machine, module, option)
        for given in machine.evaluate(machine.module_frame(module), argument).alternatives()
    )


def _given(machine: Machine, module: Module, option: str) -> Iterator[ast.expr]:
    """What is added to an option that is a set."""
    names = naming.names_below(machine, module, module.outline.shell)
    for node in walk(module.outline.shell):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.value
            if isinstance(changed, ast.Attribute) and changed.attr == option and names(changed.value) == _CONFIG:
                yield from node.args
