"""What attributes hold that a constructor stores as it was given them: told by where objects of the class are made.

`self.fn = fn` in `__init__` says nothing by itself; `Model(double)` and `Model(triple)` do.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk
from nonstrict.program.discovery import roots
from nonstrict.program.discovery.sites import passed_expression
from nonstrict.program.domain.values import UNKNOWN, Kind, Value, join
from nonstrict.program.objects import classes
from nonstrict.program.objects.parameters import default_nodes, definition_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: More places that make objects of one class are not looked at.
_MAX_CONSTRUCTIONS = 40


class Construction(NamedTuple):
    """One construction of an object: where, of which class, and what it gives an attribute."""

    frame: Frame
    node: ast.AST
    cls: Class
    value: Value
    expression: ast.expr | None


def given(machine: Machine, cls: Class, attribute: str) -> Value | None:
    """The join of what the constructions in the module of a class give one of its attributes; None if none is seen."""
    key = (cls, attribute)
    if key not in machine.constructed:
        machine.constructed[key] = None
        found: Value | None = None
        for one in constructions(machine, cls, attribute):
            found = join(found, one.value)
        machine.constructed[key] = found
    return machine.constructed[key]


def constructions(machine: Machine, cls: Class, attribute: str) -> list[Construction]:
    """The constructions of a class, and of those derived from it, whose argument becomes the attribute."""
    stored = _stored_from(machine, cls, attribute)
    if stored is None:
        return []
    roots.find_calls(machine, cls.module, {cls.name})
    node, parameter = stored
    calls = machine.static_calls.get(node, [])
    return list(_read(machine, node, parameter, calls[:_MAX_CONSTRUCTIONS]))


def made(machine: Machine, cls: Class, attribute: str) -> list[tuple[Class, Value]]:
    """What an attribute holds in the objects of a class, and of those derived from it, whose making was seen.

    Each with its class: told by the constructor as it ran for that object, or by the argument that it stores.
    """
    found = [
        (one.of_class, one.heap.attributes.get(attribute)) for one in objects(machine, cls) if one.heap is not None
    ]
    held = [(made_of, value) for made_of, value in found if made_of is not None and value is not None]
    return held or [(one.cls, one.value) for one in constructions(machine, cls, attribute)]


def objects(machine: Machine, cls: Class) -> list[Value]:
    """The objects of a class, and of those derived from it, whose making was seen, as the constructor left them."""
    return [made for _, _, made in _all(machine, cls)]


def calls(machine: Machine, cls: Class) -> list[tuple[Frame, ast.Call]]:
    """The calls that make objects of a class, and of those derived from it."""
    found = {node: frame for frame, node, _ in _all(machine, cls)}
    return [(frame, node) for node, frame in found.items() if isinstance(node, ast.Call)]


def _all(machine: Machine, cls: Class) -> Iterator[tuple[Frame, ast.AST, Value]]:
    roots.find_calls(machine, cls.module, {cls.name})
    constructor = classes.member(machine, cls, "__init__")
    function = constructor[0].function if constructor is not None else None
    calls = machine.static_calls.get(function.node, []) if function is not None else []
    for frame, node, positional, _ in calls[:_MAX_CONSTRUCTIONS]:
        made = next(iter(positional), UNKNOWN)
        if made.heap is not None and made.kind in (Kind.MODULE, Kind.OBJECT) and _is_of(made, cls):
            yield frame, node, made


def _is_of(instance: Value, cls: Class) -> bool:
    return instance.of_class is not None and cls in classes.lineage(instance.of_class)


def entries(machine: Machine, cls: Class) -> Value | None:
    """Any of what is put into the objects of a class that inherits the constructor of a container of torch."""
    key = (cls, "")
    if key not in machine.constructed:
        machine.constructed[key] = None
        found: Value | None = None
        roots.find_calls(machine, cls.module, {cls.name})
        for _, _, positional, _ in machine.static_calls.get(cls.node, [])[:_MAX_CONSTRUCTIONS]:
            held = positional[0].heap.element if positional and positional[0].heap is not None else None
            for one in held.alternatives() if held is not None else ():
                found = join(found, one) if one.kind is Kind.MODULE else found
        machine.constructed[key] = found
    return machine.constructed[key]


def _stored_from(machine: Machine, cls: Class, attribute: str) -> tuple[ast.AST, str] | None:
    """The constructor that stores a parameter under an attribute, or the dataclass with that field, and its name."""
    for base in classes.lineage(cls):
        if isinstance(base, str):
            continue
        found = classes.own_member(machine, base, "__init__")
        if found is not None and found.function is not None:
            parameter = stores(found.function.node).get(attribute)
            if parameter is not None:
                return found.function.node, parameter
        elif found is None and classes.is_dataclass(base) and attribute in classes.fields(machine, base):
            return base.node, attribute
    return None


def stores(constructor: FunctionNode) -> dict[str, str]:
    """The attributes that a constructor gives the value of a parameter: `self.fn = fn`, `self.a, self.b = a, b`."""
    return remembered(constructor, "_nonstrict_stores", _find_stores)


def _find_stores(constructor: FunctionNode) -> dict[str, str]:
    names = _names(constructor)
    found: dict[str, str] = {}
    for node in walk(constructor):
        for target, value in _assigned(node):
            given = value.id if isinstance(value, ast.Name) else ""
            if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == names[0] and given in names[1:]:
                found[target.attr] = given
    return found


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets of an assignment, each with what it is given; one by one where a tuple is assigned to a tuple."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)):
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            if len(target.elts) == len(node.value.elts):
                yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield target, node.value


def _names(function: FunctionNode) -> list[str]:
    arguments = function.args
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one.arg for one in ordered] or [""]


def _read(
    machine: Machine,
    constructor: ast.AST,
    parameter: str,
    calls: list[tuple[Frame, ast.AST, tuple[Value, ...], dict[str, Value]]],
) -> Iterator[Construction]:
    for frame, node, positional, keywords in calls:
        made = positional[0] if positional else None
        if made is None or made.kind not in (Kind.MODULE, Kind.OBJECT) or made.of_class is None:
            continue
        ordered = (
            ["self", *classes.fields(machine, made.of_class)]
            if isinstance(constructor, ast.ClassDef)
            else [*_ordered(constructor)]
        )
        index = ordered.index(parameter) if parameter in ordered else len(positional)
        value = keywords.get(parameter, positional[index] if index < len(positional) else None)
        if value is None:
            value = _default(machine, made.of_class, constructor, parameter)
        if value is not None:
            yield Construction(frame, node, made.of_class, value, passed_expression(node, positional, index, parameter))


def _ordered(constructor: ast.AST) -> Iterator[str]:
    arguments = getattr(constructor, "args", None)
    if isinstance(arguments, ast.arguments):
        yield from (one.arg for one in (*arguments.posonlyargs, *arguments.args))


def _default(machine: Machine, cls: Class, constructor: ast.AST, parameter: str) -> Value | None:
    function = _constructor_of(machine, cls, constructor)
    node = default_nodes(function.node.args).get(parameter) if function is not None else None
    if function is None or node is None:
        return None
    return machine.evaluate(definition_frame(machine.module_frame(function.module), function), node)


def _constructor_of(machine: Machine, cls: Class, constructor: ast.AST) -> Function | None:
    for base in classes.lineage(cls):
        found = classes.own_member(machine, base, "__init__") if not isinstance(base, str) else None
        if found is not None and found.function is not None and found.function.node is constructor:
            return found.function
    return None
