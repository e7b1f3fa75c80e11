"""What begins a backward pass: a method of a tensor, functions of `torch.autograd`, and functions that call these.

A method `backward` of what is not known may begin one: `accelerator.backward(loss)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.program.contracts.regions import reading
from nonstrict.program.contracts.regions.assigned import modules_naming
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.values import UNKNOWN, Kind
from nonstrict.program.externals.differentiation import BACKWARD_FUNCTIONS
from nonstrict.program.objects.naming import is_chain

if TYPE_CHECKING:
    from nonstrict.facts.texts import Root
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_METHOD = "backward"
_NAMES = (_METHOD, *(one.rpartition(".")[2] for one in BACKWARD_FUNCTIONS - {f"torch.autograd.{_METHOD}"}))
#: How many functions are looked into, one called by the other.
_HOPS = 2


class _Known:
    """What was found out: of functions of the program, and of the modules that name what begins one."""

    def __init__(self) -> None:
        self.functions: dict[tuple[ast.AST, int], bool] = {}
        self.modules: dict[str, bool] = {}


def begins(frame: Frame, node: ast.AST) -> bool:
    """Whether a node of the text that a frame runs is a call that begins a backward pass, or may begin one."""
    return isinstance(node, ast.Call) and _begins(frame.machine, node, frame.machine.evaluate(frame, node.func), _HOPS)


def may_begin(machine: Machine, path: str) -> bool:
    """Whether code of a program that runs a file may begin a backward pass."""
    known = machine.part(_Known).modules
    for module in (module for name in _NAMES for module in modules_naming(machine, name, path)):
        if module.path not in known:
            known[module.path] = any(_begins_in(machine, module, text, 0) for text in reading.texts(module, _NAMES))
        if known[module.path]:
            return True
    return False


def _begins(machine: Machine, call: ast.Call, callee: Value, hops: int) -> bool:
    for one in callee.alternatives():
        function, method = one.bound.function if one.bound is not None else one.function, one.external_method
        if isinstance(function, Function):
            found = bool(hops) and _is_in_function(machine, function, hops - 1)
        elif method is not None:
            found = method.name == _METHOD
        else:
            is_method = isinstance(call.func, ast.Attribute) and call.func.attr == _METHOD
            found = one.dotted in BACKWARD_FUNCTIONS or (is_method and one.kind is Kind.UNKNOWN)
        if found:
            return True
    return False


def _is_in_function(machine: Machine, function: Function, hops: int) -> bool:
    """Whether a function of the program begins one, but for a region, which is told apart."""
    known, at = machine.part(_Known).functions, (function.node, hops)
    if at not in known:
        known[at] = False  # of what calls itself, the rest decides
        is_region = function.node in machine.regions
        known[at] = not is_region and _begins_in(machine, function.module, function.node, hops)
    return known[at]


def _begins_in(machine: Machine, module: Module, text: Root, hops: int) -> bool:
    calls = (one for one in own_scope(text) if isinstance(one, ast.Call))
    return any(_begins(machine, one, _callee(machine, module, text, one.func), hops) for one in calls)


def _callee(machine: Machine, module: Module, text: Root, called: ast.expr) -> Value:
    is_worth = is_chain(called) or getattr(called, "attr", "") == _METHOD
    return reading.value(machine, module, text, called) if is_worth else UNKNOWN
