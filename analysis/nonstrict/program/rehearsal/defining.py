"""Definitions: functions with what their decorators make of them, and classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.program.rehearsal.calling import ENUMS, FIELDS
from nonstrict.program.rehearsal.things import UNKNOWN, Closure, Compiled, Definition, External, Instance, Scope

if TYPE_CHECKING:
    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import FunctionNode, Thing

_BINDINGS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
}
_MANAGERS = frozenset({"contextlib.contextmanager"})
_DATA_CLASS = "dataclasses.dataclass"


def define(stage: Stage, node: ast.AST, scope: Scope) -> Thing:
    """What a definition gives."""
    if isinstance(node, ast.ClassDef):
        return _decorated(stage, node.decorator_list, _class(stage, node, scope), scope)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _decorated(stage, node.decorator_list, _function(stage, node, scope), scope)
    return _function(stage, node, scope) if isinstance(node, ast.Lambda) else UNKNOWN


def _function(stage: Stage, node: FunctionNode, scope: Scope) -> Closure:
    made = Closure(node, scope)
    made.defaults = tuple(stage.evaluate(one, scope) for one in node.args.defaults)
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    made.keyword_defaults = {one.arg: stage.evaluate(default, scope) for one, default in named if default is not None}
    made.generates = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in own_scope(node))
    return made


def _decorated(stage: Stage, decorators: list[ast.expr], thing: Thing, scope: Scope) -> Thing:
    for decorator in reversed(decorators):
        if isinstance(thing, Closure) and isinstance(decorator, ast.Attribute) and decorator.attr == "setter":
            scope.names[f"{thing.name}.setter"] = thing
            return scope.names.get(thing.name, thing)
        thing = _apply(stage, stage.evaluate(decorator, scope), thing, scope)
    return thing


def _apply(stage: Stage, decorator: Thing, thing: Thing, scope: Scope) -> Thing:
    dotted = decorator.dotted if isinstance(decorator, External) else ""
    if isinstance(thing, Closure):
        if dotted in _BINDINGS:
            thing.binding = _BINDINGS[dotted]
            return thing
        if dotted in _MANAGERS:
            thing.manages = True
            return thing
    if isinstance(thing, Definition):
        thing.is_dataclass = thing.is_dataclass or dotted == _DATA_CLASS or decorator is UNKNOWN
        return thing
    if decorator is UNKNOWN:
        return thing
    found = stage.call(decorator, (thing,), {}, stage.here, scope)
    return thing if found is UNKNOWN else found


def _class(stage: Stage, node: ast.ClassDef, scope: Scope) -> Definition:
    made = Definition(node.name, tuple(stage.evaluate(one, scope) for one in node.bases), {})
    held: dict[str, Thing] = made.names
    # functions inside look for `super()` where the class is, and for other names outside of its body
    around = Scope({"__class__": made}, scope, scope.top, scope.path)
    body = Scope(held, around, scope.top, scope.path)
    fields: list[Thing] = [
        one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]
    for statement in node.body:
        for _ in stage.run([statement], body):
            pass
    for thing in held.values():
        function = thing.target if isinstance(thing, Compiled) else thing
        if isinstance(function, Closure) and function.scope is body:
            function.scope, function.owner = around, made
    held[FIELDS] = fields
    if made.inherits(*ENUMS):
        for name, value in list(held.items()):
            if not name.startswith("_") and not isinstance(value, Closure):
                held[name] = Instance(made, {"name": name, "value": value})
    return made
