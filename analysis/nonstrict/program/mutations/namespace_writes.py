"""Writes of a top-level name through the module as an object: `setattr(sys.modules[__name__], "scale", 2.0)`.

Which module an expression means, the interpreter tells: functions that may do so are interpreted, and what they rebind
at the place of the name are its writes.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.write import How, Write
from nonstrict.program.mutations import indirect
from nonstrict.program.mutations.writes import functions_with
from nonstrict.program.objects import definition_values, namespaces
from nonstrict.program.state.mutations_protocol import Storing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: What gives a module as an object, other than an import statement, or sets what it holds by name.
_MODULES = re.compile(r"\b(?:modules|import_module|globals|setattr|vars|__dict__)\b")
#: More functions than this are not looked into.
_MAX_FUNCTIONS = 12
_CHANGES = frozenset({Event.WRITE, Event.LEAK})


def rebindings(machine: Machine, module: Module, name: str) -> list[Write]:
    """The writes of a top-level name by code, of its module and of those that use it, that got the module.

    The module may do so itself for others that give it the name: `options.use("scale", 2.0)`.
    """
    users = [module, *machine.elsewhere.mentions(module, name)]
    for_others = _MODULES.search(module.source.code) is not None
    searched = [user for user in users if for_others or _MODULES.search(user.source.code)]
    concerned = [one.summary for one in storing(machine, searched, name) if not one.sets_up]
    # The name is given: where what it is stored under is no longer known, it may be this one.
    places = {module.place(one) for one in (name, namespaces.ANY)}
    found: dict[int, Write] = {}
    for summary in concerned:
        for part in reachable(summary):
            for effect in part.summary.effects.values():
                if effect.event in _CHANGES and effect.place in places:
                    found[id(effect.node)] = Write(effect.path, effect.offset, effect.node, How.REBOUND)
    return list(found.values())


class Code(NamedTuple):
    """A function of a module, with the class around it, or the statements outside functions that are concerned."""

    user: Module
    node: ast.AST
    offset: int
    owner: ast.ClassDef | None = None


def storing(machine: Machine, users: Iterable[Module], name: str) -> list[Storing]:
    """What functions and statements of some modules do that store something under a name; not those that are marked.

    Nothing is looked into where they are too many to tell anything.
    """
    code = [one for user in users for one in _concerned(machine, user, {name}, lambda part: _stores(part, name))]
    if sum(isinstance(one.node, ast.FunctionDef) for one in code) > _MAX_FUNCTIONS:
        return []
    found = [done for one in code for done in _done_by(machine, one, lambda part: _stores(part, name))]
    return found if sum(not one.sets_up for one in found) <= _MAX_FUNCTIONS else []


def concerned_in(
    machine: Machine, user: Module, words: AbstractSet[str], concerned: Callable[[ast.AST], bool]
) -> Iterator[Storing]:
    """What those functions and statements of a module do that are concerned; they hold one of some words."""
    for one in _concerned(machine, user, words, concerned):
        yield from _done_by(machine, one, concerned)


def _concerned(
    machine: Machine, user: Module, words: AbstractSet[str], concerned: Callable[[ast.AST], bool]
) -> Iterator[Code]:
    marked = {id(mark.function.node) for mark in machine.marks.values() if mark.function is not None}
    for node, offset, top_level in functions_with(user, words):
        if top_level:
            yield Code(user, node, offset)
            continue
        owner = node if isinstance(node, ast.ClassDef) else None
        for function in owner.body if owner is not None else [node]:
            if isinstance(function, ast.FunctionDef) and id(function) not in marked and concerned(function):
                yield Code(user, function, offset, owner)


def _done_by(machine: Machine, code: Code, concerned: Callable[[ast.AST], bool]) -> Iterator[Storing]:
    user, node, offset, around = code
    if not isinstance(node, ast.FunctionDef):
        found = indirect.outside_functions(machine, user, node, concerned)
        yield from (Storing(summary, user, one.lineno, sets_up=not running) for summary, one, running in found)
        return
    owner = definition_values.class_of(machine.module_frame(user), around, offset) if around is not None else None
    yield Storing(indirect.interpreted(machine, user, node, offset, owner), user)


def _stores(code: ast.AST, name: str) -> bool:
    """Whether code stores under an attribute, or under a key, of a name."""
    return name in remembered(code, "_nonstrict_stored_names", _stored_names)


def _stored_names(code: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    for node in walk(code):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg is not None:
            found.add(node.arg)
    return frozenset(found)
