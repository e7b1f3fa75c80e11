"""Whose attribute is written: objects of other classes, also of the same name, are no evidence.

The interpreter tells what classes are and what objects variables hold; where it cannot, an object may be any.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import fields
from nonstrict.facts.steps import steps_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.domain.values import Kind
from nonstrict.program.mutations import own_methods
from nonstrict.program.mutations.indirect import held_by
from nonstrict.program.objects import classes, definition_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine


def is_related(machine: Machine, module: Module, offset: int, owner: Class, node: ast.ClassDef) -> bool:
    """Whether a class defined in a module is the owner of an attribute, a base of it or a subclass.

    A base that is not known may be the owner if it is called so.
    """
    cls = definition_values.class_of(machine.module_frame(module), node, offset)
    if _are_related(cls, owner):
        return True
    bases = zip(node.bases, cls.bases, strict=False)
    return any(value.kind is Kind.UNKNOWN and last_name(base) == owner.name for base, value in bases)


def _are_related(cls: Class, owner: Class) -> bool:
    below = {id(base.node) for base in classes.lineage(cls) if not isinstance(base, str)}
    above = {id(base.node) for base in classes.lineage(owner) if not isinstance(base, str)}
    return id(owner.node) in below or id(cls.node) in above


def is_another(machine: Machine, module: Module, around: ast.AST, write: Write, holder: ast.expr, owner: Class) -> bool:
    """Whether an object whose attribute is assigned was surely made by another class than the one that is asked for."""
    return not _may_be(_held(machine, module, around, write, holder), owner)


def is_one(machine: Machine, module: Module, around: ast.AST, write: Write, holder: ast.expr, owner: Class) -> bool:
    """Whether an object whose attribute is assigned is known to be of the class that is asked for."""
    held = _held(machine, module, around, write, holder)
    return bool(held) and all(map(_is_known, held)) and _may_be(held, owner)


def _held(machine: Machine, module: Module, around: ast.AST, write: Write, holder: ast.expr) -> list[Value]:
    """What an expression holds where an attribute of it is assigned; nothing where that is not known."""
    root, *path = steps_of(holder) or ("",)
    if root in fields.receivers(around):
        return _held_by_receiver(machine, module, around, write, path)
    if not root:
        return []
    local = any(
        isinstance(inner, (ast.Name, ast.arg)) and _binds(inner, root)
        for inner in (walk(around) if not isinstance(around, ast.Module) else ())
    )
    if local:
        return held_within(machine, module, around, write.offset, write.node, holder)
    return own_methods.at(machine.global_value(module, root), path) if root in module.bindings else []


def _held_by_receiver(machine: Machine, module: Module, around: ast.AST, write: Write, path: list[str]) -> list[Value]:
    """What an attribute of the receiver holds where its objects are made: `self.gate.temperature = 1.0`."""
    if not isinstance(around, ast.ClassDef) or len(path) != 1 or not path[0].startswith("."):
        return []
    cls = definition_values.class_of(machine.module_frame(module), around, write.offset)
    given = machine.contracts.given_by_constructions(machine, cls, path[0][1:])
    return [one for one in given.alternatives() if one.kind is not Kind.NONE] if given is not None else []


def _binds(node: ast.Name | ast.arg, name: str) -> bool:
    return node.arg == name if isinstance(node, ast.arg) else node.id == name and isinstance(node.ctx, ast.Store)


def _may_be(held: Iterable[Value], owner: Class) -> bool:
    """Whether what is held may be an object of a class: it is one, or not known."""
    held = list(held)
    if not held or not all(map(_is_known, held)):
        return True
    return any(one.of_class is not None and _are_related(one.of_class, owner) for one in held)


def _is_known(held: Value) -> bool:
    """Whether something is an object of a class of the program."""
    return held.kind in (Kind.OBJECT, Kind.MODULE) and held.of_class is not None


def held_within(
    machine: Machine, module: Module, around: ast.AST, offset: int, node: ast.AST, expression: ast.expr
) -> list[Value]:
    """What an expression holds in the function or method around a node, apart from None; nothing outside functions."""
    functions = around.body if isinstance(around, ast.ClassDef) else [around]
    for function in functions:
        if isinstance(function, ast.FunctionDef) and any(inner is node for inner in walk(function)):
            frame = machine.module_frame(module)
            owner = definition_values.class_of(frame, around, offset) if isinstance(around, ast.ClassDef) else None
            held = held_by(machine, module, function, offset, owner, expression)
            return [one for one in held.alternatives() if one.kind is not Kind.NONE]
    return []


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What an assignment assigns to."""
    if isinstance(node, ast.Assign):
        return [
            part
            for target in node.targets
            for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
        ]
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []
