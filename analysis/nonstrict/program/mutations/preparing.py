"""Functions that a script calls once, before it runs anything compiled: what they change is set up by then."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.execution import steps_outside
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.discovery.run_once import sole_call
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals.running import is_of_the_library, runs_compiled
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: Functions that call one another are followed so far.
_MAX_CALLS = 4
#: Decorators that leave a method a function that runs where it is called.
_BINDING = frozenset({"builtins.classmethod", "builtins.staticmethod"})
#: What has methods of its own, whatever they are called.
_OBJECTS = frozenset({Kind.OBJECT, Kind.MODULE})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def prepares(machine: Machine, module: Module, around: ast.AST, part: ast.AST, depth: int = _MAX_CALLS) -> bool:
    """Whether a part of a top-level function, or method, is executed once, before anything compiled or marked runs."""
    function = _method(machine, module, around, part) if isinstance(around, ast.ClassDef) else around
    plain = isinstance(function, ast.FunctionDef) and (function is not around or not function.decorator_list)
    if not plain or not isinstance(function, ast.FunctionDef) or scope_of(function).is_generator:
        return False
    before = _before(function.body, part)
    if before is None or any(may_run_compiled(machine, module, [function], one) for one in before):
        return False
    found = sole_call(machine, module, function.name) if depth else None
    if found is None:
        return False
    user, nodes = found
    inside = [one for one in nodes if isinstance(one, _DEFINITIONS)]
    if not inside:
        return _comes_first(machine, user, nodes[-1])
    return isinstance(inside[-1], ast.FunctionDef) and prepares(machine, user, inside[0], nodes[-1], depth - 1)


def runs_before(machine: Machine, module: Module, function: FunctionNode, part: ast.AST) -> bool:
    """Whether a function may call what is compiled before it executes a part of it; a loop counts with all around."""
    body = function.body if isinstance(function.body, list) else [function.body]
    statements = [one for one in body if isinstance(one, ast.stmt)]
    before = _before(statements, part)
    return any(may_run_compiled(machine, module, [function], one) for one in (body if before is None else before))


def _method(machine: Machine, module: Module, cls: ast.ClassDef, part: ast.AST) -> ast.FunctionDef | None:
    """The method of a class that holds a part of it, where no other file may call it."""
    methods = (one for one in cls.body if isinstance(one, ast.FunctionDef))
    found = next((one for one in methods if any(inner is part for inner in walk(one))), None)
    frame = machine.module_frame(module)
    binds = all(naming.dotted(frame, one) in _BINDING for one in found.decorator_list) if found is not None else False
    called = found is not None and not found.name.startswith("__") and binds
    return found if called and not machine.elsewhere.users(module, cls.name) else None


def _before(body: list[ast.stmt], part: ast.AST) -> list[ast.AST] | None:
    """What a function executes before a part of it, whole branches included; None for what repeats or is deferred."""
    found: list[ast.AST] = []
    for statement in body:
        if not any(inner is part for inner in walk(statement)):
            found.append(statement)
            continue
        if statement is part or not isinstance(statement, (ast.If, ast.With, ast.Try)):
            return None if isinstance(statement, (*_LOOPS, *_DEFINITIONS)) else found
        inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
        heads = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
        within = _before(inner, part)
        return None if within is None else [*found, *heads, *within]
    return None


def may_run_compiled(machine: Machine, module: Module, functions: Sequence[FunctionNode], part: ast.AST) -> bool:
    """Whether a part of some functions may call what is compiled: by a name of the module, or by one of their own.

    What a local variable holds is told where the standard library made it, as it makes a parser of arguments.
    """
    if runs_compiled(machine, module, part):
        return True
    calls = (inner.func for inner in walk(part) if isinstance(inner, ast.Call))
    others = (callee for callee in calls if not is_of_tensors(machine, module, functions, callee))
    roots = {next((one.id for one in walk(callee) if isinstance(one, ast.Name)), "") for callee in others}
    return any(
        not _is_of_the_library(machine, module, function, root)
        for function in functions
        for root in roots & scope_of(function).local
    )


def is_of_tensors(machine: Machine, module: Module, functions: Sequence[FunctionNode], callee: ast.expr) -> bool:
    """Whether what is called has the name of a method of tensors, and is no method of an object of the program.

    That is told of variables of some functions: by what they are made of, and by annotations.
    """
    if not isinstance(callee, ast.Attribute) or tensor_method(callee.attr) is None:
        return False
    root = next((one.id for one in walk(callee) if isinstance(one, ast.Name)), "")
    holding = [function for function in functions if root in scope_of(function).local]
    return not any(_may_be_object(machine, module, function, root) for function in holding)


def _may_be_object(machine: Machine, module: Module, function: FunctionNode, name: str) -> bool:
    """Whether a variable of a function is seen to hold an object of a class of the program."""
    frame = machine.module_frame(module)
    arguments = (one for one in walk(function.args) if isinstance(one, ast.arg) and one.arg == name)
    held = [machine.annotated(frame, one.annotation, FRESH) for one in arguments if one.annotation is not None]
    held += [machine.evaluate(frame, call) for call in _made_by(function, name)]
    return any(one.kind in _OBJECTS for value in held for one in value.alternatives())


def _is_of_the_library(machine: Machine, module: Module, function: FunctionNode, name: str) -> bool:
    """Whether a local variable holds only what calls of the standard library return."""
    stored = (one for one in walk(function) if isinstance(one, ast.Name) and one.id == name)
    bindings = [one for one in stored if isinstance(one.ctx, ast.Store)]
    frame = machine.module_frame(module)
    made = [naming.dotted(frame, call.func) for call in _made_by(function, name)]
    return 0 < len(bindings) == len(made) and all(map(is_of_the_library, made))


def _made_by(function: FunctionNode, name: str) -> list[ast.Call]:
    """The calls whose results are assigned to a variable."""
    return [
        one.value
        for one in walk(function)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
        for target in one.targets
        if isinstance(target, ast.Name) and target.id == name
    ]


def _comes_first(machine: Machine, module: Module, call: ast.AST) -> bool:
    """Whether a call outside functions is executed once, before anything compiled runs in its file."""
    for step in steps_outside(module.outline.shell):
        if any(inner is call for inner in walk(step.node)):
            return step.loop is None
        if runs_compiled(machine, module, step.node):
            return False
    return False
