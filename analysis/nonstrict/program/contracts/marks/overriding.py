"""Subclasses that override what a marked method calls on `self`: an object of theirs runs their code in its place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.fallthrough import does_nothing
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.discovery.subclasses import subclasses
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.effects import Summary
    from nonstrict.program.state.machine import Machine

#: A hierarchy with more overrides is a framework: what is one class of many says little of the others.
_MAX_SUBCLASSES = 4
#: What a method is among the members of its class.
_METHODS = frozenset({Kind.FUNCTION, Kind.MARKED})


def overriding(machine: Machine, method: Function, summary: Summary) -> list[Class]:
    """The subclasses that inherit a method and override methods that were followed from it; none if these are many."""
    owner = method.owner
    if owner is None or method.binding or isinstance(method.node, ast.Lambda):
        return []
    called = _called_methods(method, owner, summary)
    found = [
        cls
        for cls in subclasses(machine, owner)
        if _inherits(machine, cls, method) and any(_overrides(machine, cls, owner, name) for name in called)
    ]
    return found if len(found) <= _MAX_SUBCLASSES else []


def inheriting(machine: Machine, method: Function) -> list[Class]:
    """The subclasses that run a method of their base as it is; none if these are many."""
    owner = method.owner
    if owner is None or method.binding or isinstance(method.node, ast.Lambda):
        return []
    found = [cls for cls in subclasses(machine, owner) if _inherits(machine, cls, method)]
    return found if len(found) <= _MAX_SUBCLASSES else []


def is_left_to_subclasses(machine: Machine, method: Function) -> bool:
    """Whether a method does nothing at all, and a subclass has one of its own."""
    if method.owner is None or not does_nothing(method.node):
        return False
    members = (classes.member(machine, cls, method.name) for cls in subclasses(machine, method.owner))
    return any(one is not None and one[0].kind in _METHODS and one[1] is not method.owner for one in members)


def in_place_of(machine: Machine, method: Function) -> list[tuple[Class, Function]]:
    """The subclasses that override a method themselves, with their own; none if these are many."""
    owner = method.owner
    if owner is None or method.binding or isinstance(method.node, ast.Lambda):
        return []
    own = ((cls, classes.own_member(machine, cls, method.name)) for cls in subclasses(machine, owner))
    found = [(cls, one.function) for cls, one in own if one is not None and one.function is not None]
    return found if len(found) <= _MAX_SUBCLASSES else []


def _called_methods(method: Function, owner: Class, summary: Summary) -> set[str]:
    """The names that a method calls on `self`, and those of the methods of its class that calls led to."""
    family = {base for base in classes.lineage(owner) if not isinstance(base, str)}
    first = scope_of(method.node).parameters[:1]
    calls = (node.func for node in walk(method.node) if isinstance(node, ast.Call))
    names = {steps[1][1:] for callee in calls if len(steps := steps_of(callee)) == 2 and steps[:1] == first}
    pending, seen = [summary], {id(summary)}
    while pending:
        for edge in pending.pop().calls.values():
            function = edge.summary.definition
            if function is not None and id(edge.summary) not in seen and function.owner in family:
                seen.add(id(edge.summary))
                pending.append(edge.summary)
                names.add(function.name)
    return names


def _inherits(machine: Machine, cls: Class, method: Function) -> bool:
    found = classes.member(machine, cls, method.name)
    return found is not None and found[1] is method.owner


def _overrides(machine: Machine, cls: Class, owner: Class, name: str) -> bool:
    found, inherited = classes.member(machine, cls, name), classes.member(machine, owner, name)
    if found is None or found[0].kind is not Kind.FUNCTION:
        return False
    return inherited is None or found[1] is not inherited[1]
