"""What a program puts under attributes of classes, and names of modules: `Engine.kernel = staticmethod(other)`.

Which class or module, and which of its names, an expression means, and what is put there, the interpreter tells: the
functions and statements that mention the name are interpreted, with the helpers that they call. So
`patch(Engine, "kernel", other)` counts as what it does, and what is put back before the function ends does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.discovery import callers
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.modules import Module
from nonstrict.program.domain.values import CALLABLES
from nonstrict.program.domain.write import How, Write
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.namespace_writes import storing
from nonstrict.program.mutations.preparing import prepares, runs_before
from nonstrict.program.objects import classes
from nonstrict.program.state.mutations_protocol import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.effects import Effect, Summary
    from nonstrict.program.state.machine import Machine
    from nonstrict.program.state.mutations_protocol import Storing


def exchanges(machine: Machine, cls: Class, name: str) -> tuple[Put, ...]:
    """The functions that code that runs later puts in place of a member that a class has."""
    put = (one for holder in holders(machine, cls, name) for one in on(machine, holder, name))
    return tuple(one for one in put if one.value.kind in CALLABLES and not one.by.sets_up)


def holders(machine: Machine, cls: Class, name: str) -> tuple[Class, ...]:
    """The top-level classes on which a member that a class has may be replaced: up to the base that defines it."""
    found = classes.member(machine, cls, name)
    return () if found is None or name.startswith("__") else tuple(_up_to(cls, found[1]))


def _up_to(cls: Class, definer: Class) -> Iterator[Class]:
    for holder in classes.lineage(cls):
        if not isinstance(holder, str) and holder.closure is None and holder.within is None:
            yield holder
        if holder is definer:
            return


def on(machine: Machine, holder: Class | Module, name: str) -> tuple[Put, ...]:
    """What is put under an attribute of a class, or a name of a module that is got as an object; searched for once."""
    of_module = isinstance(holder, Module)
    place = holder.place(name) if of_module else holder.place.step(f".{name}")
    known = machine.part(FoundWrites).put_at
    if place not in known:
        known[place] = ()
        users = _users(machine, holder, name, name) if of_module else _users(machine, holder.module, holder.name, name)
        known[place] = tuple(_find(machine, users, place, name))
    return known[place]


def _find(machine: Machine, users: Iterable[Module], place: AccessPath, name: str) -> Iterator[Put]:
    for one in storing(machine, users, name):
        yield from put_by(machine, one, lambda changed: changed == place)


def put_by(machine: Machine, by: Storing, concerned: Callable[[AccessPath], bool]) -> Iterator[Put]:
    """What a function or statement, with what it calls, puts at those places that are concerned."""
    for reached in reachable(by.summary):
        for effect in reached.summary.effects.values():
            if effect.event is Event.WRITE and not effect.lazy and concerned(effect.place):
                yield from _of(machine, reached.summary, effect, by)


def _users(machine: Machine, module: Module, exported: str, name: str) -> list[Module]:
    """The files that use a top-level name of a module and may store under a name, its own first."""
    storing = set(machine.elsewhere.files_storing(name)) | ({module.path} - machine.own_files)
    users = [module] if module.path in storing else []
    if any(path != module.path and machine.elsewhere.says(path, exported) for path in storing):
        used = (use.module for use in machine.elsewhere.users(module, exported))
        users += {user.path: user for user in used if user.path in storing}.values()
    return users


def _of(machine: Machine, summary: Summary, effect: Effect, by: Storing) -> Iterator[Put]:
    definition = summary.definition
    if definition is None:
        building = by.sets_up
    elif by.sets_up:
        building = not runs_before(machine, definition.module, definition.node, effect.node)
    else:
        building = _is_set_up(machine, definition, effect.node)
    how = How.CHANGED if effect.place.path else How.REBOUND
    write = Write(effect.path, effect.offset, effect.node, how, effect.place.path, building=building)
    value = callers.resolved(machine, effect.value, summary.definition)
    module = machine.project.module(effect.path)
    around = summary.definition.node if summary.definition is not None else module.outline.shell if module else None
    bare = around is not None and _is_bare(around, effect.node)
    return (Put(one, effect.place, write, bare, by) for one in value.alternatives())


def _is_set_up(machine: Machine, definition: Function, part: ast.AST) -> bool:
    """Whether a function or method does something once, before anything compiled runs."""
    owner = definition.owner
    return prepares(machine, definition.module, definition.node if owner is None else owner.node, part)


def _is_bare(around: ast.AST, target: ast.AST) -> bool:
    """Whether what is stored is a function by its name: reached through the class it is a plain function then."""
    stored: ast.expr | None = None
    if isinstance(target, ast.Call):
        stored = target.args[-1] if target.args else None
    else:
        assigned = (node for node in walk(around) if isinstance(node, ast.Assign) and target in node.targets)
        stored = next((node.value for node in assigned), None)
    return isinstance(stored, (ast.Name, ast.Attribute)) and last_name(stored) != ""
