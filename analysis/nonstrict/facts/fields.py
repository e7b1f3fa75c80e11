"""The fields of a class as its text tells them: annotated ones, those that `__init__` sets, and what methods do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.scopes import FunctionNode


class Read(NamedTuple):
    """Which attributes of a parameter a function reads; `all` if it may read any."""

    names: frozenset[str]
    all: bool


def method(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """A method that the class body defines."""
    found = (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == name)
    return next(found, None)


def annotated(cls: ast.ClassDef) -> Mapping[str, ast.expr | None]:
    """The annotated names of a class body, with what they are set to."""
    return remembered(cls, "_nonstrict_annotated", _annotated)


def _annotated(cls: ast.ClassDef) -> Mapping[str, ast.expr | None]:
    return {
        statement.target.id: statement.value
        for statement in cls.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and "ClassVar" not in ast.dump(statement.annotation)
    }


def set_by_init(cls: ast.ClassDef) -> dict[str, ast.expr]:
    """The attributes of `self` that `__init__` sets, with what they are set to."""
    init = method(cls, "__init__")
    found: dict[str, ast.expr] = {}
    for node in walk(init) if init is not None else ():
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for target, given in _pairs(targets, value) if value is not None else ():
            if init is not None and of_self(target, receiver_of(init)) and isinstance(target, ast.Attribute):
                found[target.attr] = given
    return found


def _pairs(targets: Sequence[ast.expr], value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with what it is set to: `self.a, self.b = a, b` part by part."""
    for target in targets:
        if isinstance(target, ast.Tuple):
            parts = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            yield from zip(target.elts, parts or [value] * len(target.elts), strict=True)
        else:
            yield target, value


def follows(cls: ast.ClassDef, field: str, kept: AbstractSet[str]) -> bool:
    """Whether the constructor computes a field from nothing but arguments that it keeps in others, or hands on."""
    values = set_by_init(cls)
    value = values.get(field)
    init = method(cls, "__init__")
    if value is None or init is None:
        return False
    parameters = {argument.arg for argument in (*init.args.args[1:], *init.args.kwonlyargs)}
    sources: list[ast.AST] = [other for name, other in values.items() if name in kept]
    sources += [node for node in walk(init) if isinstance(node, ast.Call) and last_name(node) == "__init__"]
    from_kept = {node.id for source in sources for node in walk(source) if isinstance(node, ast.Name)}
    return {node.id for node in walk(value) if isinstance(node, ast.Name) and node.id in parameters} <= from_kept


def option(node: ast.expr | None, name: str) -> object:
    """A keyword of a call that is a constant, such as `init=False` of `field(...)`; None if it has none."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg == name and isinstance(keyword.value, ast.Constant):
            return keyword.value.value
    return None


def is_frozen(cls: ast.ClassDef) -> bool:
    """Whether the class is a frozen dataclass."""
    decorators = (node for node in cls.decorator_list if last_name(node) == "dataclass")
    return any(option(node, "frozen") is True for node in decorators)


def reads(function: FunctionNode, index: int, cls: ast.ClassDef | None = None) -> Read:
    """Which attributes of one of its parameters a function reads; methods of the class `cls` are looked into."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if index >= len(arguments):
        return Read(frozenset(), all=True)
    name = arguments[index].arg
    body = function.body if isinstance(function.body, list) else [function.body]
    names: set[str] = set()
    wholesale = False
    known: set[int] = set()
    for part in body:
        for node in walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                known.add(id(node.value))
                called = method(cls, node.attr) if cls is not None else None
                if called is not None and called is not function:
                    inner = reads(called, 0)
                    names |= inner.names
                    wholesale = wholesale or inner.all
                wholesale = wholesale or node.attr == "__dict__"
                names.add(node.attr)
            elif isinstance(node, ast.Name) and node.id == name and id(node) not in known:
                wholesale = wholesale or not _harmless(part, node)
    return Read(frozenset(names), wholesale)


def _harmless(part: ast.AST, name: ast.Name) -> bool:
    """Whether a bare use of an object only asks what it is."""
    for node in walk(part):
        if isinstance(node, ast.Call) and name in node.args and last_name(node) in ("isinstance", "type", "id"):
            return True
        if isinstance(node, ast.Attribute) and node.value is name:
            return True
        if isinstance(node, ast.Compare) and (node.left is name or name in node.comparators):
            return True
    return False


def computed_from_others(function: FunctionNode, names: frozenset[str]) -> frozenset[str]:
    """Those of some attributes of `self` that a method sets, of none of them and of none of its parameters."""
    given = {each.arg for each in (*function.args.args[1:], *function.args.kwonlyargs)}
    receiver = receiver_of(function)
    found: set[str] = set()
    for node in (each for each in walk(function) if isinstance(each, ast.Assign)):
        for target in node.targets:
            if not isinstance(target, ast.Attribute) or target.attr not in names or not of_self(target, receiver):
                continue
            read = {getattr(part, "id", getattr(part, "attr", "")) for part in walk(node.value)}
            if not read & (given | names):
                found.add(target.attr)
    return frozenset(found)


def of_self(node: ast.AST, receiver: str) -> bool:
    """Whether a node is an attribute of the receiver of a method, which the method calls `receiver`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver


def receivers(node: ast.AST) -> frozenset[str]:
    """By which names methods in a piece of code call their receivers."""
    classes = (inner for inner in walk(node) if isinstance(inner, ast.ClassDef))
    methods = (one for cls in classes for one in cls.body if isinstance(one, ast.FunctionDef))
    return frozenset(map(receiver_of, methods)) - {""}


def mentions(cls: ast.ClassDef, names: frozenset[str]) -> bool:
    """Whether the text of a class reads, sets or defines one of some names."""
    return any(
        getattr(node, field, "") in names
        for node in walk(cls)
        for field in ("id", "attr", "name")
        if isinstance(getattr(node, field, ""), str)
    )


def changed_by_methods(cls: ast.ClassDef) -> dict[str, dict[str, list[ast.expr]]]:
    """The methods that set attributes of `self` for others to call, with what they set each attribute to.

    A value that is kept for later (`if self.x is None: self.x = ...`) is no change.
    """
    found: dict[str, dict[str, list[ast.expr]]] = {}
    methods = [node for node in cls.body if isinstance(node, ast.FunctionDef) and not _makes(node)]
    for one in methods:
        own = receiver_of(one)
        late = {id(node) for branch in walk(one) if isinstance(branch, ast.If) for node in _filled(branch, own)}
        for node in walk(one):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or not isinstance(value, ast.expr):
                continue
            for target in targets:
                if isinstance(target, ast.Attribute) and of_self(target, own) and id(node) not in late:
                    found.setdefault(one.name, {}).setdefault(target.attr, []).append(value)
    _add_callers(methods, found)
    return found


def _makes(function: ast.FunctionDef) -> bool:
    """Whether a method runs while an object is made, or whenever something is read of it."""
    return (function.name.startswith("__") and function.name != "__call__") or bool(function.decorator_list)


def _filled(branch: ast.If, receiver: str) -> Iterator[ast.AST]:
    """The statements that set what the test before them asks for."""
    attributes = [node for node in walk(branch.test) if isinstance(node, ast.Attribute)]
    asked = {node.attr for node in attributes if of_self(node, receiver)}
    for node in (inner for part in branch.body for inner in walk(part)):
        if isinstance(node, ast.Assign) and any(getattr(target, "attr", "") in asked for target in node.targets):
            yield node


def _add_callers(methods: Sequence[ast.FunctionDef], found: dict[str, dict[str, list[ast.expr]]]) -> None:
    """Add the methods that call one of those found on `self`."""
    for _ in methods:
        for one in methods:
            for node in walk(one):
                if isinstance(node, ast.Call) and of_self(node.func, receiver_of(one)) and last_name(node) != one.name:
                    for name, values in found.get(last_name(node), {}).items():
                        found.setdefault(one.name, {}).setdefault(name, values)


def stores(node: ast.AST, names: frozenset[str]) -> Iterator[ast.Attribute]:
    """Assignments to attributes with one of the given names, not those of the receivers of methods."""
    own = receivers(node)
    for inner in walk(node):
        stored = isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and inner.attr in names
        if stored and isinstance(inner, ast.Attribute) and getattr(inner.value, "id", "") not in own:
            yield inner
