"""Functions in whose place the program puts what a marker made of them: `ops.scale = nonstrict_trace(ops.scale)`.

Whoever reads that name of the module, or attribute of the class, gets the marked function; an import that came before
keeps the one without a marker. Where it is not known which came first, neither is taken to be called.

Where marked functions are put, the code tells that applies a marker and stores something: that alone is interpreted,
once. What else may store under such a name is not looked at.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import WRAPPABLE
from nonstrict.program.contracts.marks import import_order
from nonstrict.program.discovery import roots
from nonstrict.program.discovery.exports import Exports
from nonstrict.program.domain import marker_words
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import UNKNOWN, Kind, Value, relocated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine
    from nonstrict.program.state.mutations_protocol import Put

#: What stores under names that only its arguments tell.
_STORING = frozenset({"setattr", "update", "setitem"})


class _Words:
    """The words by which the program may mark a function that stays callable; found out once."""

    def __init__(self) -> None:
        self._known: frozenset[str] | None = None

    def of(self, machine: Machine) -> frozenset[str]:
        """The words, of all files of the run."""
        if self._known is None:
            self._known = WRAPPABLE | machine.part(Exports).marking()
        return self._known


@dataclass(eq=False)
class _Marked:
    """By file, the marked functions that it puts in place of others, once it was asked for."""

    marked_by: dict[str, tuple[Put, ...]] = field(default_factory=dict)


def of_function(frame: Frame, callee: Value) -> Value | None:
    """What a call of a function by a global name reaches in its place; None if that is the function itself."""
    place = callee.place
    if callee.function is None or frame.plain or place.root is not Root.GLOBAL or place.path:
        return None
    module = frame.machine.project.module(place.file)
    return _under(frame.machine, module, place.name, callee.function) if module is not None else None


def of_member(frame: Frame, cls: Class, name: str, member: Value) -> Value:
    """A function that the body of a class binds, or what is put in its place."""
    if frame.plain or member.function is None:
        return member
    from nonstrict.program.mutations import members

    machine = frame.machine
    for holder in members.holders(machine, cls, name) if _may_be_put(machine, cls.module, name) else ():
        marked = _marked(_put(machine, holder.module, holder.place.step(f".{name}"), name), member.function)
        if marked is not None:
            return relocated(marked.value, marked.place)
    return member


def _under(machine: Machine, module: Module, name: str, function: Function) -> Value | None:
    marked = _marked(_put(machine, module, module.place(name), name), function)
    if marked is not None:
        return marked.value
    for imported in import_order.imports_of(machine, module, name):
        source, origin = imported.source, imported.name
        marked = _marked(_put(machine, source, source.place(origin), origin), function)
        if marked is not None:
            before = import_order.precedes(machine, imported, marked)
            return None if before else UNKNOWN if before is None else marked.value
    return None


def _marked(put: Iterable[Put], function: Function) -> Put | None:
    return next((one for one in put if one.value.mark and one.value.mark.function is function), None)


def _put(machine: Machine, owner: Module, place: AccessPath, name: str) -> Iterator[Put]:
    """The marked functions that the program puts at a place, which a module and a name tell."""
    for path in _files_putting(machine, owner, name):
        module = machine.project.module(path)
        if module is not None:
            yield from (one for one in _put_by(machine, module) if one.place == place)


def _may_be_put(machine: Machine, owner: Module, name: str) -> bool:
    return any(True for _ in _files_putting(machine, owner, name))


def _files_putting(machine: Machine, owner: Module, name: str) -> Iterator[str]:
    """The files that may put a marked function under a name, as far as their bytes tell."""
    elsewhere = machine.elsewhere
    words = machine.part(_Words).of(machine)
    for path in [*elsewhere.files_storing(name), *({owner.path} - machine.own_files)]:
        if elsewhere.says_any(path, words):
            yield path


def _put_by(machine: Machine, module: Module) -> tuple[Put, ...]:
    """The marked functions that a module puts under names of modules and attributes of classes; found once."""
    known = machine.part(_Marked).marked_by
    if module.path not in known:
        known[module.path] = ()
        known[module.path] = tuple(_find(machine, module))
    return known[module.path]


def _find(machine: Machine, module: Module) -> Iterator[Put]:
    from nonstrict.program.mutations import members, namespace_writes

    names = roots.marking(machine, module)
    for by in namespace_writes.concerned_in(machine, module, names, lambda code: _puts(code, names)):
        put = members.put_by(machine, by, lambda place: place.root is Root.GLOBAL)
        yield from (one for one in put if one.value.kind is Kind.MARKED)


def _puts(code: ast.AST, names: AbstractSet[str]) -> bool:
    """Whether code applies a marker, by one of some names, and stores something other than in a variable."""
    return marker_words.applies(code, names) and any(_stores(node, names) for node in walk(code))


def _stores(node: ast.AST, names: AbstractSet[str]) -> bool:
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return isinstance(node.ctx, ast.Store)
    if isinstance(node, ast.Expr):
        # What is called for nothing but what it does: `mark(ops, "scale")`.
        return isinstance(node.value, ast.Call) and last_name(node.value) in names
    return isinstance(node, ast.Call) and last_name(node) in _STORING
