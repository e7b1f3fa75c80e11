"""What is known of objects that torch makes anew: what their fields hold, and what their methods call."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts import fields
from nonstrict.facts.computing import Reached, Resolver
from nonstrict.facts.idempotence import PRESENT, SELF, TENSOR
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.boundary import pytree_support
from nonstrict.program.domain.values import NESTED_CONTAINERS, TENSORS, UNKNOWN, Kind
from nonstrict.program.objects import classes
from nonstrict.program.objects.naming import names_in, names_of_method

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

_ANYTHING: object = object()
_OPAQUE = frozenset({Kind.UNKNOWN, Kind.UNION})


def objects(value: Value, cls: Class, depth: int = 0) -> Iterator[Value]:
    """The objects of a class that a value is or holds."""
    for one in value.alternatives():
        if one.kind is Kind.OBJECT and one.ref is cls:
            yield one
        elif depth < NESTED_CONTAINERS:
            for element in pytree_support.elements(one):
                yield from objects(element, cls, depth + 1)


def known_fields(
    body: Interpreted,
    argument: BoundaryArgument,
    cls: Class,
    declared: Mapping[str, ast.expr | None],
    reset: frozenset[str],
) -> tuple[Mapping[str, object], ...]:
    """What the fields of the objects hold when their constructor begins, for each call of it that is seen.

    `declared` are the fields in their order with what they are set to. The fields `reset` have their defaults.
    """
    held = [one.heap.attributes for one in objects(argument.value, cls) if one.heap is not None]
    kinds = {name: kind for name in declared if (kind := _kind_of([one.get(name) for one in held])) is not _ANYTHING}
    default = _defaults(declared)
    order = [name for name in declared if name not in reset]
    return tuple(_given(call, order, default, kinds) for call in _constructions(body, argument, cls))


def _constructions(body: Interpreted, argument: BoundaryArgument, cls: Class) -> Iterator[ast.Call]:
    """The calls of a class in its own file, in that of the marked function and where the object is passed."""
    paths = {cls.module.path, body.mark.path}
    if argument.site is not None:
        paths.add(argument.site.span.path)
    for path in sorted(paths):
        module = body.machine.project.module(path)
        if module is None or cls.name not in module.source.code:
            continue
        chunks = (module.outline.node(chunk) for chunk in module.chunks_with({cls.name}))
        for part in (module.outline.shell, *chunks):
            for node in walk(part) if part is not None else ():
                if isinstance(node, ast.Call) and last_name(node.func) == cls.name:
                    yield node


def _given(
    call: ast.Call, order: Sequence[str], default: Mapping[str, object], kinds: Mapping[str, object]
) -> Mapping[str, object]:
    """What the fields of an object hold that a call makes."""
    known = dict(default)
    untold = any(isinstance(part, ast.Starred) for part in call.args) or any(one.arg is None for one in call.keywords)
    arguments = dict(zip(order, call.args, strict=False)) | {one.arg or "": one.value for one in call.keywords}
    for name in order if untold else arguments:
        known.pop(name, None)
        if name in kinds:
            known[name] = kinds[name]
        if not untold and isinstance(constant := arguments[name], ast.Constant):
            known[name] = constant.value
    return known


def _kind_of(values: Sequence[Value | None]) -> object:
    """What all of some values are."""
    contents = [_content(value) if value is not None else _ANYTHING for value in values]
    alike = bool(contents) and all(content is contents[0] for content in contents)
    return contents[0] if alike else _ANYTHING


def _content(value: Value) -> object:
    if value.kind in _OPAQUE:
        return _ANYTHING
    if value.kind is Kind.NONE:
        return None
    return TENSOR if value.kind in TENSORS else PRESENT


def _defaults(declared: Mapping[str, ast.expr | None]) -> dict[str, object]:
    """The constants that fields are set to where the constructor is not given another value."""
    found: dict[str, object] = {}
    for name, value in declared.items():
        given = value
        if isinstance(value, ast.Call) and last_name(value) == "field":
            given = next((one.value for one in value.keywords if one.arg == "default"), None)
        if isinstance(given, ast.Constant):
            found[name] = given.value
    return found


def resolver_of(machine: Machine, cls: Class, method: FunctionNode) -> Resolver:
    """What names in a method of a class stand for, and which functions of the program calls in it reach."""
    return Resolver(names_of_method(machine, cls.module, method), partial(_reached, machine, cls))


def _reached(machine: Machine, cls: Class, call: ast.Call) -> Reached | None:
    """The function that a call in a method reaches; None if it is none of the program, or not known."""
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return None
    if root.id == SELF:
        return _method(machine, cls, last_name(call)) if getattr(call.func, "value", None) is root else None
    return _function(machine, cls.module, root.id, call)


def _method(machine: Machine, cls: Class, name: str) -> Reached | None:
    for base in classes.lineage(cls):
        found = fields.method(base.node, name) if not isinstance(base, str) else None
        if found is not None and not isinstance(base, str):
            static = any(last_name(decorator) == "staticmethod" for decorator in found.decorator_list)
            return Reached(found, 0 if static else 1, resolver_of(machine, base, found))
    return None


def _function(machine: Machine, module: Module, root: str, call: ast.Call) -> Reached | None:
    """The function that a call by a name at the top level of a module reaches."""
    callee = machine.evaluate(machine.module_frame(module), call.func) if root in module.bindings else UNKNOWN
    if callee.function is None:
        return None
    function: Function = callee.function
    return Reached(function.node, 0, Resolver(names_in(machine, function), partial(_in_function, machine, function)))


def _in_function(machine: Machine, function: Function, call: ast.Call) -> Reached | None:
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    return _function(machine, function.module, root.id, call) if isinstance(root, ast.Name) else None
