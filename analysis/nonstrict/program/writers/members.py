"""What a program puts under attributes of classes once it runs: `Engine.kernel = staticmethod(other)`.

Which class and which attribute an expression means, and what is put there, the interpreter tells: the functions and
statements that name the attribute are interpreted, with the helpers that they call. So `patch(Engine, "kernel", other)`
counts as what it does, and what is put back before the function ends does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program import classes
from nonstrict.program.effects import Event, reachable
from nonstrict.program.marks import callers
from nonstrict.program.values import CALLABLES
from nonstrict.program.writers import namespace_writes
from nonstrict.program.writers.how import How
from nonstrict.program.writers.preparing import prepares
from nonstrict.program.writers.writes import Write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.definitions import Class, Function
    from nonstrict.program.effects import Effect, Summary
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module
    from nonstrict.program.places import Place
    from nonstrict.program.values import Value

#: More functions than this are not looked into.
_MAX_FUNCTIONS = 12


class Put(NamedTuple):
    """What is put under an attribute of a class, at which place, and where in the text.

    It is `bare` where no `staticmethod` is around it.
    """

    value: Value
    place: Place
    write: Write
    bare: bool


def exchanges(machine: Machine, cls: Class, name: str) -> tuple[Put, ...]:
    """What is put in place of a member that a class has, on that class or on the bases up to where it is defined."""
    found = classes.member(machine, cls, name)
    if found is None or name.startswith("__"):
        return ()
    put = (one for holder in _up_to(cls, found[1]) for one in on(machine, holder, name))
    return tuple(one for one in put if one.value.kind in CALLABLES)


def _up_to(cls: Class, definer: Class) -> Iterator[Class]:
    for holder in classes.lineage(cls):
        if not isinstance(holder, str) and holder.closure is None and holder.within is None:
            yield holder
        if holder is definer:
            return


def on(machine: Machine, cls: Class, name: str) -> tuple[Put, ...]:
    """What is put under an attribute of a class by code that runs after its module; searched for once."""
    place = cls.place.step(f".{name}")
    if place not in machine.put_at:
        machine.put_at[place] = ()
        machine.put_at[place] = tuple(_find(machine, cls, name, place))
    return machine.put_at[place]


def _find(machine: Machine, cls: Class, name: str, place: Place) -> Iterator[Put]:
    summaries = list(_storing(machine, cls, name))
    for summary in summaries if len(summaries) <= _MAX_FUNCTIONS else ():
        for reached in reachable(summary):
            for effect in reached.summary.effects.values():
                if effect.event is Event.WRITE and effect.place == place and not effect.lazy:
                    yield from _of(machine, reached.summary, effect)


def _storing(machine: Machine, cls: Class, name: str) -> Iterator[Summary]:
    for user in _users(machine, cls, name):
        yield from namespace_writes.storing(machine, user, name)


def _users(machine: Machine, cls: Class, name: str) -> list[Module]:
    """The files that name a class and may store under an attribute of that name, its own first."""
    storing = set(machine.elsewhere.files_storing(name)) | ({cls.module.path} - machine.own_files)
    users = [cls.module] if cls.module.path in storing else []
    if any(path != cls.module.path and machine.elsewhere.says(path, cls.name) for path in storing):
        used = (use.module for use in machine.elsewhere.users(cls.module, cls.name))
        users += {user.path: user for user in used if user.path in storing}.values()
    return users


def _of(machine: Machine, summary: Summary, effect: Effect) -> Iterator[Put]:
    building = summary.definition is not None and _is_set_up(machine, summary.definition, effect.node)
    write = Write(effect.path, effect.offset, effect.node, How.CHANGED, effect.place.path, building=building)
    value = callers.resolved(machine, effect.value, summary.definition)
    module = machine.project.module(effect.path)
    around = summary.definition.node if summary.definition is not None else module.outline.shell if module else None
    bare = around is not None and _is_bare(around, effect.node)
    return (Put(one, effect.place, write, bare) for one in value.alternatives())


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
