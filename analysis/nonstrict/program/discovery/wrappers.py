"""Functions and classes that mark what they are given, or give a marker, as far as their text tells.

All questions are put to one derivation: what the names of a definition mean (`Meanings`).
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.targets import choices, last_name
from nonstrict.facts.walk import own_scope, walk
from nonstrict.models.members import PUTTING
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.scopes import FunctionNode

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Path = (ast.Name, ast.Attribute)
#: Methods that run where an object is made, or called as a function.
_MAKING = frozenset({"__init__", "__call__"})
#: The method of modules that compiles them where they are.
_IN_PLACE = "compile"
#: Calls whose result is as good as the callable that they are given.
_KEEPING = frozenset({"partial", "enumerate", "zip", "list", "tuple", "deepcopy", "no_grad"})


class Meanings:
    """What the names, attributes and expressions of a definition mean.

    That is a *marker*, by a word that means one everywhere, or held by a name; what the definition or a function in it
    is *given*, or holds of that; what a marker *made*.
    """

    def __init__(self, node: ast.AST, words: AbstractSet[str], given: AbstractSet[str] | None = None) -> None:
        """Take in a definition, and the words that mean a marker; `given` instead of parameters, if it is passed."""
        self._node = node
        self._words = words
        self._known = given

    @cached_property
    def _bindings(self) -> list[tuple[str, ast.AST]]:
        return list(_bindings(self._node))

    @cached_property
    def given(self) -> set[str]:
        """What holds what is given."""
        return self._closed(_parameters(self._node) if self._known is None else self._known, _is_of)

    @cached_property
    def markers(self) -> set[str]:
        """What holds a marker: `marker = getattr(torch.compiler, "nonstrict_trace", None)`, `mark=nonstrict_trace`."""
        defaults = {name for name, value in _defaults(self._node) if self._is_marker_of(value, frozenset())}
        return self._closed(defaults, self._is_marker_of)

    @cached_property
    def made(self) -> set[str]:
        """What holds what a marker made, functions that one decorates among it."""
        inside = (inner for inner in walk(self._node) if isinstance(inner, _Function) and inner is not self._node)
        decorated = {inner.name for inner in inside if any(map(self._decorates, inner.decorator_list))}
        return decorated | {name for name, value in self._bindings if self.is_made(value)}

    def _closed(self, known: AbstractSet[str], holds: _Holds) -> set[str]:
        """Some names, and those that are bound to what holds one of them."""
        found = set(known)
        while new := {name for name, value in self._bindings if name not in found and holds(value, found)}:
            found |= new
        return found

    def is_marker(self, value: ast.AST) -> bool:
        """Whether an expression gives a marker, perhaps with arguments bound."""
        return self._is_marker_of(value, self.markers)

    def _is_marker_of(self, value: ast.AST, held: AbstractSet[str]) -> bool:
        if isinstance(value, (ast.IfExp, ast.BoolOp)):
            return any(self._is_marker_of(choice, held) for choice in choices(value))
        if isinstance(value, ast.Call):
            bound = value.args[0] if last_name(value) == "partial" and value.args else None
            return gives_marker(value, self._words) or (bound is not None and self._is_marker_of(bound, held))
        return isinstance(value, _Path) and (gives_marker(value, self._words) or _spelled(value) in held)

    def _decorates(self, decorator: ast.expr) -> bool:
        return self.is_marker(decorator.func if isinstance(decorator, ast.Call) else decorator)

    def is_made(self, value: ast.AST) -> bool:
        """Whether an expression is what a marker makes."""
        if isinstance(value, (ast.IfExp, ast.BoolOp)):
            return any(self.is_made(choice) for choice in choices(value))
        return isinstance(value, ast.Call) and (last_name(value) in self._words or self.is_marker(value.func))

    def is_made_of_given(self, value: ast.AST) -> bool:
        """Whether an expression is what a marker makes of what is given."""
        return isinstance(value, ast.Call) and self.is_made(value) and self._takes_given(value)

    def _takes_given(self, call: ast.Call) -> bool:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        return any(_is_of(argument, self.given) for argument in arguments)

    # -- what a function does ------------------------------------------------------------------------------------------

    def returns_marked(self) -> bool:
        """Whether the function, or one inside it, returns a marker, or what one makes."""
        if isinstance(self._node, ast.Lambda):
            return self.is_made_of_given(self._node.body)
        return any(
            self._is_marked(value)
            for inner in walk(self._node)
            if isinstance(inner, ast.Return) and inner.value is not None
            for value in choices(inner.value)
        )

    def _is_marked(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Name):
            return value.id in self.made or self.is_marker(value) or self._is_marking_function(value.id)
        if isinstance(value, ast.Lambda):
            return last_name(value.body) in self._words
        if isinstance(value, ast.Call) and any(last_name(argument) in self._words for argument in value.args):
            return True
        return last_name(value) in self._words or self.is_marker(value) or self.is_made(value)

    def _is_marking_function(self, name: str) -> bool:
        """Whether a name is that of a function in this one that gives what a marker made, of what this one is given."""
        found = (inner for inner in walk(self._node) if isinstance(inner, _Function) and inner is not self._node)
        function = next((inner for inner in found if inner.name == name), None)
        if function is None:
            return False
        applied = {name for name, value in self._bindings if self.is_made_of_given(value)}
        return Meanings(function, {*self._words, *applied, *self.markers}).returns_marked()

    def stores_marked(self) -> bool:
        """Whether it, or a function in it, stores what a marker makes of what is given: `TABLE[key] = mark(fn)`."""
        stored = [value for inner in walk(self._node) for value in _stored(inner)]
        made = {name for name, value in self._bindings if stored and self.is_made_of_given(value)}
        return any(
            self.is_made_of_given(value) or (isinstance(value, ast.Name) and value.id in made) for value in stored
        )

    def replaces_given(self) -> bool:
        """Whether it marks a member of what it is given in place: `cls.forward = torch.compile(cls.forward)`."""
        return isinstance(self._node, _Function) and any(map(self._replaces, own_scope(self._node)))

    def _replaces(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return last_name(node) == "setattr" and any(map(self.is_made_of_given, node.args[2:]))
        value = node.value if isinstance(node, ast.Assign) else None
        member = value.args[0] if isinstance(value, ast.Call) and value.args else None
        if not isinstance(node, ast.Assign) or not isinstance(member, ast.Attribute) or value is None:
            return False
        return self.is_made_of_given(value) and any(_spelled(target) == _spelled(member) for target in node.targets)

    def applies_to_given(self) -> bool:
        """Whether it calls a marker, or what one gives, with what is given: `make_fx(fn)(x)`, `custom_op(name)(fn)`.

        `model.compile()` is given the model.
        """
        return any(
            isinstance(inner, ast.Call)
            and ((self._gives_applied(inner.func) and self._takes_given(inner)) or self._compiles_given(inner.func))
            for inner in walk(self._node)
        )

    def _compiles_given(self, callee: ast.expr) -> bool:
        if not isinstance(callee, ast.Attribute) or callee.attr != _IN_PLACE or _IN_PLACE not in self._words:
            return False
        return _is_of(callee.value, self.given)

    def _gives_applied(self, callee: ast.expr) -> bool:
        return self.is_marker(callee) or (isinstance(callee, ast.Call) and self._gives_applied(callee.func))


def marks(node: FunctionNode, words: AbstractSet[str], storing: AbstractSet[str]) -> bool:
    """Whether a function gives a marker, or marks what it is given: returns that, stores it, or puts it in its place.

    `storing` are those of the words whose result counts as marked where it is stored.
    """
    told = Meanings(node, words)
    return told.returns_marked() or told.replaces_given() or Meanings(node, storing).stores_marked()


def applies_to_given(node: FunctionNode, words: AbstractSet[str]) -> bool:
    """Whether a function, or one inside it, applies a marker to a parameter or to what is made of one."""
    return Meanings(node, words).applies_to_given()


class Applying(NamedTuple):
    """The methods by which a class applies a marker to what its objects are given.

    `made` says that making an object, or calling it, leads to that: a method marks what the constructor is given.
    """

    methods: set[str]
    made: bool


def applying_members(node: ast.ClassDef, words: AbstractSet[str]) -> Applying:
    """How a class applies a marker to what its objects are given."""
    methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
    given, kept = Meanings(node, words).given, _kept(node, methods)
    found: set[str] = set()
    while new := {one.name for one in methods if Meanings(one, words | found, given).applies_to_given()} - found:
        found |= new
    stored = any(Meanings(one, words | found, kept).applies_to_given() for one in methods) if kept else False
    return Applying({name for name in found if not name.startswith("__")}, stored or not found.isdisjoint(_MAKING))


def marking_members(node: ast.ClassDef, words: AbstractSet[str]) -> set[str]:
    """The names by which a class marks what it is given: methods, and its own if it or its instances are called."""
    methods = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
    caller = methods.get("__call__")
    called_itself = caller is not None and _keeps(caller, words)
    found = {
        name
        for name, method in methods.items()
        if _keeps(method, {*words, receiver_of(method)} if called_itself else words)
    }
    called = {node.name} if found & {"__init__", "__call__"} else set[str]()
    return {name for name in found if not name.startswith("__")} | called


def _keeps(node: FunctionNode, words: AbstractSet[str]) -> bool:
    told = Meanings(node, words)
    return told.returns_marked() or told.stores_marked()


def gives_marker(value: ast.expr, words: AbstractSet[str]) -> bool:
    """Whether an expression is a marker by one of some words: its name, or `getattr` of it."""
    if isinstance(value, ast.Call):
        name = value.args[1] if last_name(value) == "getattr" and len(value.args) > 1 else None
        return isinstance(name, ast.Constant) and name.value in words
    return isinstance(value, _Path) and last_name(value) in words


# -- the text ---------------------------------------------------------------------------------------------------------


def _kept(node: ast.ClassDef, methods: list[ast.FunctionDef]) -> set[str]:
    """The attributes that hold what the constructor of a class is given, as its methods write them."""
    constructor = next((method for method in methods if method.name == "__init__"), None)
    if constructor is None:
        fields = [
            one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        return {f"{receiver}.{name}" for receiver in {*map(receiver_of, methods)} - {""} for name in fields}
    return {name for name in Meanings(constructor, frozenset()).given if "." in name}


def _parameters(node: ast.AST) -> set[str]:
    """The parameters of the functions in a node."""
    return {inner.arg for inner in walk(node) if isinstance(inner, ast.arg)}


def _defaults(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of the functions in a node that have a default, with that."""
    for inner in walk(node):
        if isinstance(inner, ast.arguments):
            yield from default_nodes(inner).items()


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What names and attributes are bound to in a node; a function is bound to its name."""
    for inner in walk(node):
        if isinstance(inner, (ast.Assign, ast.AnnAssign)) and inner.value is not None:
            targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
            yield from ((_spelled(target), inner.value) for target in targets if isinstance(target, _Path))
        elif isinstance(inner, (ast.For, ast.comprehension)):
            yield from ((part.id, inner.iter) for part in walk(inner.target) if isinstance(part, ast.Name))
        elif isinstance(inner, _Function) and inner is not node:
            yield inner.name, inner


def _is_of(value: ast.AST, given: AbstractSet[str]) -> bool:
    """Whether an expression is one of some names, a part of one, or a callable made of one."""
    if isinstance(value, (ast.Lambda, *_Function)):
        return any(isinstance(inner, _Path) and _spelled(inner) in given for inner in walk(value))
    if isinstance(value, _Path):
        return _spelled(value) in given or (isinstance(value, ast.Attribute) and _is_of(value.value, given))
    if isinstance(value, (ast.Subscript, ast.Starred)):
        return _is_of(value.value, given)
    if isinstance(value, (ast.IfExp, ast.BoolOp)):
        return any(_is_of(choice, given) for choice in choices(value))
    if not isinstance(value, ast.Call):
        return False
    if last_name(value) == "getattr":
        return _is_of(value.args[0], given) if value.args else False
    if last_name(value) in _KEEPING:
        return any(_is_of(argument, given) for argument in value.args)
    return isinstance(value.func, ast.Attribute) and _is_of(value.func.value, given)


def _spelled(node: ast.expr) -> str:
    """A name, or an attribute of one, as it is written; "" for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _stored(node: ast.AST) -> list[ast.expr]:
    """What a node puts into a container or an object."""
    if isinstance(node, ast.Assign):
        kept = any(isinstance(target, (ast.Subscript, ast.Attribute)) for target in node.targets)
        return [node.value] if kept else []
    storing = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTTING
    return node.args if storing and isinstance(node, ast.Call) else []


if TYPE_CHECKING:
    from collections.abc import Callable

    _Holds = Callable[[ast.AST, AbstractSet[str]], bool]
