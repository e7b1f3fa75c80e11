"""The classes of a program that have a given class among their bases, in whatever file they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: The classes that derive from those of a larger hierarchy are not looked for.
_MAX_SUBCLASSES = 40


@dataclass(eq=False)
class _Derived:
    """By class, those that derive from it, once they were looked for."""

    classes: dict[Class, tuple[Class, ...]] = field(default_factory=dict)


def subclasses(machine: Machine, owner: Class) -> tuple[Class, ...]:
    """The classes at the top level of files that have a class among their bases; looked for once."""
    known = machine.part(_Derived).classes
    if owner not in known:
        known[owner] = ()
        known[owner] = tuple(_subclasses(machine, owner))
    return known[owner]


def _subclasses(machine: Machine, owner: Class) -> Iterator[Class]:
    """The classes that derive from a class, level by level: a file may name the nearest of them only."""
    found = {owner: None}
    pending = [owner]
    while pending and len(found) <= _MAX_SUBCLASSES:
        base = pending.pop(0)
        users = [(base.module, base.name)]
        users += [(use.module, use.name) for use in machine.elsewhere.users(base.module, base.name)]
        new = (cls for module, word in users for cls in _derived(machine, module, word, base))
        pending += [cls for cls in dict.fromkeys(new) if cls not in found]
        found |= dict.fromkeys(pending)
    yield from list(found)[1:]


def _derived(machine: Machine, module: Module, word: str, owner: Class) -> Iterator[Class]:
    for chunk in module.chunks_with((word,)):
        if chunk.is_class and machine.concerns(module, chunk):
            held = machine.global_value(module, chunk.name)
            if held.kind is Kind.CLASS and held.of_class is not None and owner in classes.lineage(held.of_class):
                yield held.of_class
