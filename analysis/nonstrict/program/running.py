"""What may run compiled code, or trace: what a script sets up before that decides nothing later."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from nonstrict.facts.execution import is_call
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.values import UNKNOWN, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module
    from nonstrict.program.values import Value

#: Functions that call one another are followed so far.
_MAX_CALLS = 3
#: Modules of the standard library that run code of the program which they are given by its name.
_IMPORTING = frozenset({"importlib", "runpy"})
_OBJECTS = frozenset({Kind.MODULE, Kind.OBJECT})
#: Functions that make a graph of what they are given, and the last parts of their names.
_TRACERS = frozenset(name for name, marker in MARKERS.items() if marker.kind == "make-fx")
_TRACER_NAMES = frozenset(name.rpartition(".")[2] for name in _TRACERS)


def runs(machine: Machine, module: Module, statement: ast.AST) -> bool:
    """Whether a statement outside functions calls something for effect, or a compiled or marked function.

    What the standard library does with plain values, as `os.environ.setdefault("NAME", "1")`, runs no code that traces.
    """
    if isinstance(statement, ast.Expr):
        return is_call(statement) and not _only_of_the_library(module, statement)
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and runs_compiled(machine, module, statement)


def _only_of_the_library(module: Module, statement: ast.Expr) -> bool:
    """Whether a statement names nothing but modules and functions of the standard library, and `print`."""
    names = {node.id for node in walk(statement) if isinstance(node, ast.Name)}
    return all(
        _is_of_the_library(module, name) if name in module.bindings else name == "print" and not module.star_imports
        for name in names
    )


def _is_of_the_library(module: Module, name: str) -> bool:
    packages = {
        one.module.partition(".")[0] if one.kind == "import" and not one.level else "" for one in module.bindings[name]
    }
    return packages <= sys.stdlib_module_names - _IMPORTING


def runs_compiled(machine: Machine, module: Module, node: ast.AST) -> bool:
    """Whether a part of a module calls a compiled or marked function, itself or in what it calls, or has one traced."""
    return _traces(machine, module, node) or any(True for _ in names_run(machine, module, node))


def _traces(machine: Machine, module: Module, node: ast.AST) -> bool:
    """Whether a part of a module has a graph made: what is exchanged from there on, the graph does not see."""
    return any(
        held.kind is Kind.EXTERNAL and held.ref in _TRACERS
        for callee in remembered(node, "_nonstrict_tracers", _named_as_tracers)
        for held in machine.evaluate(machine.module_frame(module), callee).alternatives()
    )


def _named_as_tracers(node: ast.AST) -> tuple[ast.expr, ...]:
    calls = (inner.func for inner in walk(node) if isinstance(inner, ast.Call))
    return tuple(
        callee
        for callee in calls
        if isinstance(callee, (ast.Name, ast.Attribute)) and last_name(callee) in _TRACER_NAMES
    )


def names_run(machine: Machine, module: Module, node: ast.AST, depth: int = _MAX_CALLS) -> Iterator[str]:
    """The names of a module's top level by which a part of it calls what runs compiled code."""
    for name in remembered(node, "_nonstrict_called", _called_names):
        held = machine.global_value(module, name) if name in module.bindings else UNKNOWN
        if any(_is_compiled(machine, callee, depth) for callee in held.alternatives()):
            yield name


def _is_compiled(machine: Machine, callee: Value, depth: int) -> bool:
    if callee.kind is Kind.MARKED or callee.kind in _OBJECTS:
        return True
    if callee.kind is not Kind.FUNCTION:
        return False
    function = callee.ref
    if function.node in machine.regions:
        return True
    if depth <= 0:
        return False
    module, node = function.module, function.node
    return _traces(machine, module, node) or any(True for _ in names_run(machine, module, node, depth - 1))


def _called_names(node: ast.AST) -> tuple[str, ...]:
    local = scope_of(node).local if isinstance(node, FunctionNode) else frozenset[str]()
    calls = (inner.func for inner in walk(node) if isinstance(inner, ast.Call))
    names = (callee.id for callee in calls if isinstance(callee, ast.Name))
    return tuple(name for name in dict.fromkeys(names) if name not in local)
