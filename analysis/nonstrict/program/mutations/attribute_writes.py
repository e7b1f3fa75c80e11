"""Assignments of attributes of the objects of a class: in the files that use the class, and in those that hold objects.

Files that name the class, or one that derives from it, are searched for the text of such assignments; of objects that
are known to be of another class they are no evidence. In other files only what is known to be of the class counts.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts import fields
from nonstrict.facts.execution import steps_outside
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.steps import member_of
from nonstrict.facts.walk import walk
from nonstrict.models.members import CHANGING_COMMON
from nonstrict.program.discovery.subclasses import subclasses
from nonstrict.program.domain.write import How, Write
from nonstrict.program.externals.running import runs, runs_around
from nonstrict.program.mutations import making, strangers, told
from nonstrict.program.mutations.calls import attributes_told
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.strangers import targets_of
from nonstrict.program.mutations.writes import functions_with
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_CHANGING = CHANGING_COMMON
_CHANGES = "|".join(sorted(_CHANGING))
#: An attribute that more files store is a common name: those that do not name the class are not looked into.
_MAX_STORING = 12


def expect(machine: Machine, owner: Class) -> None:
    """Tell ahead that the files which use a class will be asked for."""
    machine.elsewhere.expect(owner.module, [owner.name])


def of_class(machine: Machine, owner: Class, attribute: str) -> list[Write]:
    """Assignments of an attribute of the objects of a class: on other objects than `self`, or in subclasses."""
    key = (owner.module.path, owner.qualname, attribute)
    known = machine.part(FoundWrites).of_attributes
    if key not in known:
        # What decides whether a write happens may be the attribute itself.
        known[key] = []
        known[key] = list(_of_class(machine, owner, attribute))
    return known[key]


def in_loaded(machine: Machine, attribute: str) -> list[Write]:
    """Assignments of an attribute, of whatever object, in the files that are loaded."""
    known = machine.part(FoundWrites).by_attribute
    if attribute not in known:
        word = _pattern(attribute)
        known[attribute] = [
            write
            for module in machine.project.loaded()
            if word.search(module.source.code)
            for node, offset, _ in functions_with(module, word)
            for write, _ in _assigned(module.path, offset, node, attribute, None)
        ]
    return known[attribute]


def _of_class(machine: Machine, owner: Class, attribute: str) -> Iterator[Write]:
    naming = _naming(machine, owner)
    for module in naming.values():
        for node, write, holder in _within(machine, module, owner, attribute):
            if not strangers.is_another(machine, module, node, write, holder, owner):
                yield write
    others = [path for path in machine.elsewhere.files_storing(attribute) if path not in naming]
    for path in others if len(others) <= _MAX_STORING else ():
        module = machine.project.module(path)
        if module is None:
            continue
        for node, write, holder in _within(machine, module, owner, attribute):
            if strangers.is_one(machine, module, node, write, holder, owner):
                yield write


def of_part(machine: Machine, owner: Class, name: str, attribute: str) -> list[Write]:
    """Assignments of an attribute of what the objects of a class hold under a name: `net.drop.p = 0.1`."""
    key = (owner.module.path, owner.qualname, f"{name}.{attribute}")
    known = machine.part(FoundWrites).of_attributes
    if key not in known:
        known[key] = list(_of_part(machine, owner, name, attribute))
    return known[key]


def _of_part(machine: Machine, owner: Class, name: str, attribute: str) -> Iterator[Write]:
    naming = _naming(machine, owner)
    others = [path for path in machine.elsewhere.files_storing(attribute) if path not in naming]
    modules = map(machine.project.module, others if len(others) <= _MAX_STORING else ())
    for module in (*naming.values(), *(one for one in modules if one is not None)):
        for node, write, part in _within(machine, module, owner, attribute):
            if not isinstance(part, ast.Attribute) or part.attr != name:
                continue
            if strangers.is_one(machine, module, node, write, part.value, owner) or (
                module.path in naming and _may_hold(machine, module, node, write, part.value, owner)
            ):
                yield write


def _may_hold(machine: Machine, module: Module, around: ast.AST, write: Write, holder: ast.expr, owner: Class) -> bool:
    """Whether an object may be of a class; in a method of another one the receiver is not."""
    if isinstance(around, ast.ClassDef) and isinstance(holder, ast.Name) and holder.id in fields.receivers(around):
        return strangers.is_related(machine, module, write.offset, owner, around)
    return not strangers.is_another(machine, module, around, write, holder, owner)


def _naming(machine: Machine, owner: Class) -> dict[str, Module]:
    """The files that name a class, or one that derives from it, its own first."""
    found = [owner.module, *machine.elsewhere.mentions(owner.module, owner.name)]
    for cls in (owner, *subclasses(machine, owner)):
        found += [cls.module, *(use.module for use in machine.elsewhere.users(cls.module, cls.name))]
    return {module.path: module for module in found}


def _within(
    machine: Machine, module: Module, owner: Class, attribute: str
) -> Iterator[tuple[ast.AST, Write, ast.expr]]:
    """The assignments in a file, each with the definition around it and the object.

    Those outside functions count once something ran, those in functions unless the object is being made there.
    """
    word = _pattern(attribute)
    if not word.search(module.source.code):
        return
    for node, offset, top_level in functions_with(module, word):
        for part in _once_running(machine, module, node) if top_level else [node]:
            for write, holder in _in_part(machine, module, offset, part, owner, attribute):
                if top_level or not making.is_made_there(machine, module, node, write.node, holder):
                    yield node, write, holder
    for effect, holder in told.once_running(machine, module, attribute):
        write = Write(effect.path, effect.offset, effect.node, How.CHANGED, (f".{attribute}",))
        yield module.outline.shell, write, holder


def _in_part(
    machine: Machine, module: Module, offset: int, part: ast.AST, owner: Class, attribute: str
) -> Iterator[tuple[Write, ast.expr]]:
    bases = tuple(base.node for base in classes.lineage(owner) if not isinstance(base, str))
    related = partial(strangers.is_related, machine, module, offset, owner)
    yield from _assigned(module.path, offset, part, attribute, related, bases=bases)
    for call, holder in told.setting(machine, module, part, offset, attribute):
        yield Write(module.path, offset, call, How.CHANGED, (f".{attribute}",)), holder


def _once_running(machine: Machine, module: Module, shell: ast.AST) -> Iterator[ast.AST]:
    """The statements outside functions once something ran, and those of loops that run compiled code."""
    running = False
    for step in steps_outside(shell):
        if running or runs_around(machine, module, step):
            yield step.node
        running = running or runs(machine, module, step.node)


def _pattern(attribute: str) -> re.Pattern[str]:
    """How changes of an attribute are spelled: `x.attribute =`, `x.attribute.append(`, `setattr(x, "attribute", 1)`.

    Functions may be told its name, by a keyword as well.
    """
    name = re.escape(attribute)
    return re.compile(rf"\.{name}\b[^=\n]*=[^=]|\.{name}\b[^=\n]*\.(?:{_CHANGES})\(|[\"']{name}[\"']|\b{name}\s*=[^=]")


def _assigned(
    path: str,
    offset: int,
    node: ast.AST,
    attribute: str,
    related: Callable[[ast.ClassDef], bool] | None,
    inside: bool = True,
    bases: tuple[ast.ClassDef, ...] = (),
    receiver: str = "",
) -> Iterator[tuple[Write, ast.expr]]:
    """Assignments of an attribute outside `__init__` and what it calls, each with the object.

    Where the class of the object is known, what methods of classes that are not `related` to it assign on their
    `receiver` does not count. Its `bases` tell what else is called to construct the object.
    """
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in ("__init__", "__post_init__"):
        return
    if isinstance(node, ast.ClassDef) and related is not None:
        inside = related(node)
    building = frozenset[str]()
    if isinstance(node, ast.ClassDef):
        building = _called_by_init((node, *bases) if inside else (node,))
    for holder in _holders(node, attribute):
        if inside or not _is_called(holder, receiver):
            yield Write(path, offset, node, How.CHANGED, (f".{attribute}",), _stored(node)), holder
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef) or child.name not in building:
            own = receiver
            if isinstance(node, ast.ClassDef) and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                own = receiver_of(child)
            yield from _assigned(path, offset, child, attribute, related, inside, bases, own)


def _stored(node: ast.AST) -> ast.expr | None:
    """What a statement assigns, where that is one value."""
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return node.value
    alone = isinstance(node, ast.Assign) and not isinstance(node.targets[0], (ast.Tuple, ast.List))
    return node.value if isinstance(node, ast.Assign) and alone else None


def _holders(node: ast.AST, attribute: str) -> Iterator[ast.expr]:
    """The objects of which a node assigns an attribute, or changes what it holds."""
    for target in targets_of(node):
        member = member_of(target)
        inner = target.value if isinstance(target, ast.Subscript) and member is None else target
        if isinstance(inner, ast.Attribute):
            member = inner.value, inner.attr
        if member is not None and member[1] == attribute:
            yield member[0]
    if isinstance(node, ast.Call):
        yield from (holder for holder, name in attributes_told(node) if name == attribute)
        changed = _changed_by(node, attribute)
        if changed is not None:
            yield changed


def _called_by_init(bodies: Iterable[ast.ClassDef]) -> frozenset[str]:
    """The methods that `__init__`, and what it calls, call on the object: what they assign is part of that."""
    methods: dict[str, list[ast.FunctionDef]] = {}
    for body in bodies:
        for child in body.body:
            if isinstance(child, ast.FunctionDef):
                methods.setdefault(child.name, []).append(child)
    pending, found = ["__init__"], set[str]()
    while pending:
        reached = ((walk(one), receiver_of(one)) for one in methods.get(pending.pop(), ()))
        calls = ((inner.func, own) for nodes, own in reached for inner in nodes if isinstance(inner, ast.Call))
        called = {one.attr for one, own in calls if isinstance(one, ast.Attribute) and _is_called(one.value, own)}
        pending += called - found
        found |= called
    return frozenset(found)


def _changed_by(node: ast.Call, attribute: str) -> ast.expr | None:
    """The object whose container a method changes: `x` of `x.attribute.append(1)` or `x.attribute["k"].append(1)`."""
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in _CHANGING:
        return None
    inner = function.value
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    return inner.value if isinstance(inner, ast.Attribute) and inner.attr == attribute else None


def _is_called(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
