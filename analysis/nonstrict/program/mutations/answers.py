"""What is asked of who changes state, answered for a program: each question is searched for once, by one machine.

What is asked again while it is searched for counts as none.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.steps import ANY_ENTRY
from nonstrict.findings import Rebinding
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.mutations import (
    attribute_writes,
    foreign_writes,
    indirect,
    late_initialisation,
    members,
    namespace_writes,
    own_methods,
    resolving,
    writes,
)
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.state.mutations_protocol import Mutations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine
    from nonstrict.program.state.mutations_protocol import Put

#: By path and name, the writes of a top-level name.
_ByName = dict[tuple[str, str], list["Write"]]


class Answers(Mutations):
    """What the files of a program tell."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._found = machine.part(FoundWrites)
        self._stored: dict[tuple[str, ...], Value | None] = {}
        self._foreign: _ByName = {}
        self._reaching: _ByName = {}
        self._reaching_abroad: _ByName = {}

    def stored_in(self, place: AccessPath, attribute: str) -> Value | None:
        """What the module of a global object or container stores in it: under an attribute, or at a step to an item."""
        return self._later((place.owner, place.name, attribute), late_initialisation.stored_values, place, attribute)

    def rebindings(self, module: Module, name: str) -> list[Value]:
        """The values that functions of a module give a top-level name."""
        return late_initialisation.rebindings(self.machine, module, name)

    def put_later(self, place: AccessPath, attribute: str = "") -> Value | None:
        """What is put under a top-level name where its module has None, or under an attribute of what it holds."""
        return self._later(
            (place.owner, place.name, attribute, "later"), late_initialisation.put_later, place, attribute
        )

    def _later(
        self,
        key: tuple[str, ...],
        search: Callable[[Machine, Module, str, str], Value | None],
        place: AccessPath,
        attribute: str,
    ) -> Value | None:
        if key not in self._stored:
            self._stored[key] = None
            module = self.machine.project.module(place.file)
            if module is not None:
                self._stored[key] = search(self.machine, module, place.name, attribute)
        return self._stored[key]

    def put_on(self, holder: Class | Module, name: str) -> Sequence[Put]:
        """What the program puts under an attribute of a class, or a top-level name of a module."""
        return members.on(self.machine, holder, name)

    def exchanges(self, cls: Class, name: str) -> Sequence[Put]:
        """The functions that the program puts in place of a member that a class has."""
        return members.exchanges(self.machine, cls, name)

    def is_written(self, place: AccessPath, *, rebound: bool | None = None) -> bool:
        """Whether code of the project was seen to bind a global anew, or to change what it holds; None is either."""
        found = writes.writers(self.machine, place)
        return any(rebound in (None, isinstance(writer, Rebinding)) for writer in found)

    def is_rebound(self, place: AccessPath) -> bool:
        """Whether a global name is bound more than once, other than by alternatives before anything runs."""
        module = self.machine.project.module(place.file) if place.root is Root.GLOBAL else None
        return module is not None and writes.rebinds(self.machine, module, place.name)

    def is_replaced(self, place: AccessPath) -> bool:
        """Whether something else is put at a known entry or attribute of a global: also a function, on a class."""
        if not all(put.by.sets_up for put in self._found.put_at.get(place, ())):
            return True
        module = self.machine.project.module(place.file)
        return module is not None and any(
            write.steps and ANY_ENTRY not in write.steps and not write.building and writes.concerns(write, place)
            for write in writes.writes_of(self.machine, module, place.name)
        )

    def writes_told(self, module: Module, name: str) -> list[Write]:
        """The writes of a top-level name in its module, of methods of the program those that their bodies make."""
        return self._resolved(module, name, writes.writes_of(self.machine, module, name))

    def foreign_writes(self, module: Module, name: str) -> list[Write]:
        """The writes of a top-level name in other files of the run."""
        return self._once(
            self._foreign,
            module,
            name,
            lambda: self._resolved(module, name, foreign_writes.foreign_writes(self.machine, module, name)),
        )

    def _resolved(self, module: Module, name: str, found: list[Write]) -> list[Write]:
        found = list(self.seen_through(found))
        called = any(isinstance(write.node, ast.Call) or write.steps for write in found)
        machine = self.machine
        return list(own_methods.resolved(machine, machine.global_value(module, name), found)) if called else found

    def writes_reaching(self, module: Module, name: str) -> list[Write]:
        """The writes of what a top-level name leads to that begin with another name."""

        def search() -> list[Write]:
            through_modules = namespace_writes.rebindings(self.machine, module, name)
            return [*self.seen_through(indirect.writes_reaching(self.machine, module, name)), *through_modules]

        return self._once(self._reaching, module, name, search)

    def writes_reaching_abroad(self, module: Module, name: str) -> list[Write]:
        """The same in other files, which begin with what they import."""
        return self._once(
            self._reaching_abroad,
            module,
            name,
            lambda: list(self.seen_through(indirect.writes_reaching_abroad(self.machine, module, name))),
        )

    @staticmethod
    def _once(known: _ByName, module: Module, name: str, search: Callable[[], list[Write]]) -> list[Write]:
        key = (module.path, name)
        if key not in known:
            known[key] = []
            known[key] = search()
        return known[key]

    def attribute_writes_of(self, owner: Class, attribute: str) -> list[Write]:
        """Where an attribute of the objects of a class is put anew, in the files that use the class."""
        return attribute_writes.of_class(self.machine, owner, attribute)

    def seen_through(self, found: Iterable[Write]) -> Iterator[Write]:
        """Writes that texts suggest, those by calls with what the calls really change."""
        return resolving.resolved(self.machine, found)
