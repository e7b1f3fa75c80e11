"""What calls change, where their text alone leaves that open.

`setattr(CONFIG, name, value)` and `vars(CONFIG).update(options)` in a helper change the attributes that its callers
name, `CONFIG[key] = value` and `CONFIG.update(options)` the entries, and `np.multiply(a, 2, a)` only writes to its last
argument if it is NumPy's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.classmethods import class_parameter
from nonstrict.facts.steps import ANY_ATTRIBUTE, ANY_ENTRY
from nonstrict.facts.walk import walk
from nonstrict.program.discovery import roots
from nonstrict.program.discovery.subclasses import subclasses
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import Kind
from nonstrict.program.domain.write import How
from nonstrict.program.mutations import entered, indirect
from nonstrict.program.mutations.calls import (
    changed_argument,
    changes_entries,
    output_position,
    positional_output,
    sets_any_attribute,
)
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.writes import functions_with
from nonstrict.program.objects import definition_values, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.effects import Summary
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine

_STORES = frozenset({Event.WRITE, Event.LEAK})
#: More callers than this are not looked into.
_MAX_CALLERS = 8


def resolved(machine: Machine, writes: Iterable[Write]) -> Iterator[Write]:
    """The writes, those by calls with what the calls really change."""
    for write in writes:
        if entered.passes(machine, write):
            continue
        user = machine.project.module(write.path)
        node = write.node
        if user is not None and (sets_any_attribute(node) or changes_entries(node)):
            yield from _to_names(write, _names(machine, user, write))
        elif user is None or not _only_looks_like_numpy(machine, user, node, write.offset):
            yield write


def _only_looks_like_numpy(machine: Machine, user: Module, call: ast.AST, offset: int) -> bool:
    if not isinstance(call, ast.Call) or changed_argument(call) is None:
        return False
    # `put(CONFIG, "name", value)` may be a function of the program: its body tells what it changes.
    if machine.evaluate(machine.module_frame(user), call.func).kind is Kind.FUNCTION:
        return True
    if positional_output(call) is None:
        return False
    around = next((node for node, _ in roots.around(user, call.lineno + offset)), user.outline.shell)
    name = naming.names_below(machine, user, around)(call.func)
    return output_position(name) is None


def _to_names(write: Write, names: frozenset[str] | None) -> Iterator[Write]:
    if names is None:
        yield write
    else:
        steps = write.steps[:-1] if write.steps[-1:] in ((ANY_ATTRIBUTE,), (ANY_ENTRY,)) else write.steps
        # `CONFIG |= options` binds the dict anew that it changed.
        how = How.CHANGED if isinstance(write.node, ast.AugAssign) else write.how
        yield from (write._replace(steps=(*steps, name), how=how) for name in sorted(names))


def _names(machine: Machine, user: Module, write: Write) -> frozenset[str] | None:
    """The steps to the attributes that a call of `setattr` may set; None where it may be any."""
    known = machine.part(FoundWrites).named_by
    if write.node not in known:
        known[write.node] = None
        known[write.node] = _find_names(machine, user, write)
    return known[write.node]


def _find_names(machine: Machine, user: Module, write: Write) -> frozenset[str] | None:
    line = getattr(write.node, "lineno", 0) + write.offset
    around = next((node for node, _ in roots.around(user, line)), None)
    outside = not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    if outside and changes_entries(write.node):
        found = indirect.once_running(machine, user, user.outline.shell, lambda one: write.node in walk(one))
        return _named_in(found, write.node)
    function, owner = function_at(around, write.node)
    if function is None:
        return None
    cls = None
    if owner is not None:
        cls = definition_values.class_of(machine.module_frame(user), owner, write.offset)
    own = _named_in([indirect.interpreted(machine, user, function, write.offset, cls)], write.node)
    if own or (cls is not None and not class_parameter(function)):
        return own
    summaries = _callers(machine, user, function, cls)
    return None if summaries is None else _named_in(summaries, write.node)


def function_at(around: ast.AST | None, node: ast.AST) -> tuple[ast.FunctionDef | None, ast.ClassDef | None]:
    """The function, or the method and its class, that holds a node; nothing for one in a function within."""
    owner = around if isinstance(around, ast.ClassDef) else None
    for one in owner.body if owner is not None else [around]:
        if isinstance(one, ast.FunctionDef) and node in walk(one):
            inner = (part for part in walk(one) if isinstance(part, (ast.FunctionDef, ast.Lambda)) and part is not one)
            return (None, None) if any(node in walk(part) for part in inner) else (one, owner)
    return None, None


def _named_in(summaries: Iterable[Summary], node: ast.AST) -> frozenset[str] | None:
    """The last steps of what a call was seen to change; None if one of them may be any."""
    nodes = [node, *(node.targets if isinstance(node, ast.Assign) else ())]
    effects = [
        effect
        for summary in summaries
        for part in reachable(summary)
        for effect in part.summary.effects.values()
        if effect.node in nodes
    ]
    if changes_entries(node):
        stores = [effect for effect in effects if effect.event in _STORES]
        known = bool(stores) and all(effect.entries for effect in stores)
        return frozenset(step for effect in stores for step in effect.entries) if known else None
    steps = [effect.place.path[-1] for effect in effects if effect.place.path]
    return None if ANY_ATTRIBUTE in steps else frozenset(steps)


def _callers(machine: Machine, user: Module, function: ast.FunctionDef, cls: Class | None) -> list[Summary] | None:
    """What those do that call a function, or a method on its class, as far as all are known.

    None if it is used otherwise, or never.
    """
    found: list[Summary] = []
    called = False
    for module, name in _uses(machine, user, function.name, cls):
        for node, offset, top_level in functions_with(module, name):
            mentions = [one for one in walk(node) if isinstance(one, (ast.Name, ast.Attribute)) and _is(one, name)]
            calls = {one.func for one in walk(node) if isinstance(one, ast.Call)}
            if node is function or not mentions:
                continue
            if not calls.issuperset(mentions) or isinstance(node, ast.ClassDef):
                return None
            called = True
            if top_level:
                found += indirect.once_running(machine, module, node, lambda one, name=name: _mentions(one, name))
            elif isinstance(node, ast.FunctionDef):
                found.append(indirect.interpreted(machine, module, node, offset, None))
    return found if called and len(found) <= _MAX_CALLERS else None


def _uses(machine: Machine, user: Module, name: str, cls: Class | None) -> dict[tuple[Module, str], None]:
    """The files that may call a function, by which name; a method those that use its class, or one that inherits it."""
    if cls is None:
        found = [(use.module, use.name) for use in machine.elsewhere.users(user, name)]
    else:
        classes = (cls, *subclasses(machine, cls))
        found = [(use.module, name) for one in classes for use in machine.elsewhere.users(one.module, one.name)]
        found += [(one.module, name) for one in classes]
    return dict.fromkeys([(user, name), *found])


def _is(node: ast.Name | ast.Attribute, name: str) -> bool:
    return (node.id if isinstance(node, ast.Name) else node.attr) == name


def _mentions(statement: ast.AST, name: str) -> bool:
    return any(isinstance(one, (ast.Name, ast.Attribute)) and _is(one, name) for one in walk(statement))
