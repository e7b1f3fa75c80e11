"""What may run compiled code, or trace: what a script sets up before that decides nothing later."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts.execution import is_call
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.domain.values import UNKNOWN, Kind, Value
from nonstrict.program.objects import classes, naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.execution import Step
    from nonstrict.facts.library_calls import Names
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: Functions that call one another are followed so far.
_MAX_CALLS = 3
#: Modules of the standard library that run code of the program which they are given by its name.
_IMPORTING = frozenset({"importlib", "runpy"})
#: What traces the function that it is given at once.
_CAPTURING = frozenset(name for name, marker in MARKERS.items() if marker.kind == "make-fx")
_OBJECTS = frozenset({Kind.MODULE, Kind.OBJECT})


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
        _is_imported_from_it(module, name) if name in module.bindings else name == "print" and not module.star_imports
        for name in names
    )


def _is_imported_from_it(module: Module, name: str) -> bool:
    bindings = module.bindings[name]
    return all(one.kind == "import" and not one.level and is_of_the_library(one.module) for one in bindings)


def is_of_the_library(dotted: str) -> bool:
    """Whether a dotted name is one of the standard library, and of nothing in it that runs code of the program."""
    package = dotted.partition(".")[0]
    return package in EVER and package not in _IMPORTING


def runs_compiled(machine: Machine, module: Module, node: ast.AST) -> bool:
    """Whether a part of a module calls a compiled or marked function, or traces one, itself or in what it calls."""
    names = partial(naming.dotted, machine.module_frame(module))
    return _traces_at_once(node, names) or any(True for _ in names_run(machine, module, node))


def runs_around(machine: Machine, module: Module, step: Step) -> bool:
    """Whether the loop around a step outside functions runs compiled code, between one time and the next."""
    return step.loop is not None and runs_compiled(machine, module, step.loop)


def _traces_at_once(node: ast.AST, names: Names) -> bool:
    """Whether code captures a graph: the function that is given runs there, once."""
    calls = (inner.func for inner in walk(node) if isinstance(inner, ast.Call))
    return any(naming.is_chain(callee) and names(callee) in _CAPTURING for callee in calls)


def names_run(machine: Machine, module: Module, node: ast.AST, depth: int = _MAX_CALLS) -> Iterator[str]:
    """The names of a module's top level by which a part of it calls what runs compiled code, also as a method."""
    frame = machine.module_frame(module)
    for root, callee in remembered(node, "_nonstrict_called", _called):
        held = machine.evaluate(frame, callee) if root in module.bindings else UNKNOWN
        if any(may_be_compiled(machine, one, depth) for one in held.alternatives()):
            yield last_name(callee)


def runs_region(machine: Machine, function: Function) -> bool:
    """Whether a function calls what is compiled, or what calls that.

    It does so by a name of its module's top level, or by a parameter for which it is given that.
    """
    frame = machine.module_frame(function.module)
    for root, callee in remembered(function.node, "_nonstrict_called", _called):
        held = machine.evaluate(frame, callee) if root in function.module.bindings else UNKNOWN
        if _leads_to_region(machine, held):
            return True
    given = (
        machine.contracts.handed_to(machine, function, name)
        for name in remembered(function.node, "_nonstrict_run", _run_parameters)
    )
    return any(held is not None and _leads_to_region(machine, held) for held in given)


def _leads_to_region(machine: Machine, held: Value) -> bool:
    for one in held.alternatives():
        called = _function_of(machine, one)
        compiled = one.mark is not None and one.mark.kind == "compiled"
        if compiled or (called is not None and (called.node in machine.regions or machine.runs_region(called))):
            return True
    return False


def _run_parameters(node: ast.AST) -> tuple[str, ...]:
    """The parameters that a function calls."""
    parameters = scope_of(node).parameters if isinstance(node, FunctionNode) else ()
    called = {inner.func.id for inner in walk(node) if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)}
    return tuple(name for name in parameters if name in called)


def may_be_compiled(machine: Machine, callee: Value, depth: int = _MAX_CALLS) -> bool:
    """Whether calling a value may run compiled code."""
    if callee.kind is Kind.MARKED or callee.kind in _OBJECTS:
        return True
    function = _function_of(machine, callee)
    if function is None:
        return False
    if function.node in machine.regions or _traces_at_once(function.node, naming.names_in(machine, function)):
        return True
    return depth > 0 and any(True for _ in names_run(machine, function.module, function.node, depth - 1))


def _function_of(machine: Machine, callee: Value) -> Function | None:
    """What runs where something is called: a function, that of a method, or the constructor of a class."""
    if callee.function is not None:
        return callee.function
    if callee.bound is not None:
        function = callee.bound.function
        return _function_of(machine, function) if isinstance(function, Value) else function
    cls = callee.of_class if callee.kind is Kind.CLASS else None
    found = classes.member(machine, cls, "__init__") if cls is not None else None
    return _function_of(machine, found[0]) if found is not None and found[0].kind is Kind.FUNCTION else None


def _called(node: ast.AST) -> tuple[tuple[str, ast.expr], ...]:
    """The names that a part of a module calls, and attributes of them, once for each spelling; with the first name."""
    local = scope_of(node).local if isinstance(node, FunctionNode) else frozenset[str]()
    calls = (inner.func for inner in walk(node) if isinstance(inner, ast.Call))
    chains = {ast.unparse(callee): callee for callee in calls if naming.is_chain(callee)}
    roots = ((spelled.partition(".")[0], callee) for spelled, callee in chains.items())
    return tuple((root, callee) for root, callee in roots if root not in local)
