"""Functions and classes that mark what they are given, or give a marker, as far as their text tells."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.scopes import FunctionNode

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Path = (ast.Name, ast.Attribute)
#: Methods that run where an object is made, or called as a function.
_MAKING = frozenset({"__init__", "__call__"})
#: Methods that put an argument into a container.
_STORING = frozenset({"append", "add", "insert", "setdefault", "__setitem__"})

#: Calls whose result is as good as the callable that they are given.
_KEEPING = frozenset({"partial", "enumerate", "zip", "list", "tuple", "deepcopy", "no_grad"})


def is_wrapper(node: FunctionNode, words: AbstractSet[str]) -> bool:
    """Whether a function returns a marker, or what one makes of a parameter or of a function defined in it."""
    if isinstance(node, ast.Lambda):
        return _marks_given(node.body, words, _given(node))
    words = words | _markers_held(node, words)
    marked, applied = _bound_to_marked(node, words)
    functions = {inner.name for inner in walk(node) if isinstance(inner, ast.FunctionDef)} - {node.name}
    for inner in walk(node):
        for value in _choices(inner.value) if isinstance(inner, ast.Return) and inner.value is not None else ():
            if last_name(value) in words or (isinstance(value, ast.Name) and value.id in marked):
                return True
            if isinstance(value, ast.Call) and any(last_name(argument) in words for argument in value.args):
                return True
            if isinstance(value, ast.Call) and isinstance(value.func, ast.BoolOp) and _is_marker(value.func, words):
                return True
            nested = value.id if isinstance(value, ast.Name) and value.id in functions else ""
            if nested and _returns_marked(node, nested, {*words, *applied}):
                return True
            if isinstance(value, ast.Lambda) and last_name(value.body) in words:
                return True
    return False


def _markers_held(node: FunctionNode, words: AbstractSet[str]) -> set[str]:
    """The variables of a function that are a marker: `marker = getattr(torch.compiler, "nonstrict_trace", None)`."""
    return {
        inner.targets[0].id
        for inner in own_scope(node)
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name) and _is_marker(inner.value, words)
    }


def _is_marker(value: ast.expr, words: AbstractSet[str]) -> bool:
    return any(gives_marker(choice, words) for choice in _choices(value))


def is_registrar(node: FunctionNode, words: AbstractSet[str]) -> bool:
    """Whether a function, or one inside it, stores what a marker makes of a parameter: `TABLE[name] = mark(fn)`."""
    given = _given(node)
    made: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Assign) and _marks_given(inner.value, words, given):
            made |= {target.id for target in inner.targets if isinstance(target, ast.Name)}
    for inner in walk(node):
        for value in _stored(inner):
            if _marks_given(value, words, given) or (isinstance(value, ast.Name) and value.id in made):
                return True
    return False


def replaces_members(node: ast.FunctionDef, words: AbstractSet[str]) -> bool:
    """Whether a function marks a member of what it is given in place: `cls.forward = torch.compile(cls.forward)`."""
    given = {one.arg for one in node.args.args}
    for inner in own_scope(node):
        if not isinstance(inner, ast.Assign) or last_name(inner.value) not in words:
            continue
        made = inner.value.args[0] if isinstance(inner.value, ast.Call) and inner.value.args else None
        if isinstance(made, ast.Attribute) and _spelled(made).partition(".")[0] in given:
            return any(_spelled(target) == _spelled(made) for target in inner.targets)
    return False


def applies_to_given(node: FunctionNode, words: AbstractSet[str]) -> bool:
    """Whether a function, or one inside it, applies a marker to a parameter or to what is made of one."""
    return _applies_any(node, words, _reached(node, _parameters(node)))


class Applying(NamedTuple):
    """The methods by which a class applies a marker to what its objects are given.

    `made` says that making an object, or calling it, leads to that: a method marks what the constructor is given.
    """

    methods: set[str]
    made: bool


def applying_members(node: ast.ClassDef, words: AbstractSet[str]) -> Applying:
    """How a class applies a marker to what its objects are given."""
    methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
    given, kept = _reached(node, _parameters(node)), _kept(node, methods)
    found: set[str] = set()
    while new := {one.name for one in methods if _applies_any(one, words | found, given)} - found:
        found |= new
    stored = any(_applies_any(one, words | found, _reached(one, kept)) for one in methods) if kept else False
    return Applying({name for name in found if not name.startswith("__")}, stored or not found.isdisjoint(_MAKING))


def _kept(node: ast.ClassDef, methods: list[ast.FunctionDef]) -> set[str]:
    """The attributes that hold what the constructor of a class is given, as its methods write them."""
    constructor = next((method for method in methods if method.name == "__init__"), None)
    if constructor is None:
        fields = [
            one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        return {f"{receiver}.{name}" for receiver in {*map(receiver_of, methods)} - {""} for name in fields}
    return {name for name in _reached(constructor, _parameters(constructor)) if "." in name}


def _applies_any(node: FunctionNode, words: AbstractSet[str], given: AbstractSet[str]) -> bool:
    held = {
        inner.targets[0].id
        for inner in walk(node)
        if isinstance(inner, ast.Assign)
        and isinstance(inner.targets[0], ast.Name)
        and (_is_marker(inner.value, words) or _binds_arguments(inner.value, words))
    }
    for inner in walk(node):
        if isinstance(inner, ast.Call) and _gives_applied(inner.func, {*words, *held}):
            arguments = [*inner.args, *(keyword.value for keyword in inner.keywords)]
            if any(_is_of(argument, given) for argument in arguments):
                return True
    return False


def _gives_applied(callee: ast.expr, words: AbstractSet[str]) -> bool:
    """Whether what is called is a marker, or what one or a `partial` of one gives: `custom_op(name)(fn)`."""
    if isinstance(callee, ast.Call):
        return _gives_applied(callee.func, words) or _binds_arguments(callee, words) or gives_marker(callee, words)
    return gives_marker(callee, words)


def _binds_arguments(value: ast.expr, words: AbstractSet[str]) -> bool:
    """Whether a value is a `partial` of a marker."""
    made = isinstance(value, ast.Call) and last_name(value) == "partial" and bool(value.args)
    return made and isinstance(value, ast.Call) and gives_marker(value.args[0], words)


def _parameters(node: ast.AST) -> set[str]:
    """The parameters of the functions in a node."""
    return {inner.arg for inner in walk(node) if isinstance(inner, ast.arg)}


def _reached(node: ast.AST, known: AbstractSet[str]) -> set[str]:
    """Some names, and the names, attributes and inner functions of a node that hold what one of them does."""
    given = set(known)
    bindings = list(_bindings(node))
    while True:
        new = {name for name, value in bindings if name not in given and _is_of(value, given)}
        if not new:
            return given
        given |= new


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
        return any(_is_of(choice, given) for choice in _choices(value))
    if not isinstance(value, ast.Call):
        return False
    if last_name(value) in _KEEPING:
        return any(_is_of(argument, given) for argument in value.args)
    return isinstance(value.func, ast.Attribute) and _is_of(value.func.value, given)


def marking_members(node: ast.ClassDef, words: AbstractSet[str]) -> set[str]:
    """The names by which a class marks what it is given: methods, and its own if it or its instances are called."""
    methods = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
    caller = methods.get("__call__")
    called_itself = caller is not None and _marks(caller, words)
    found = {
        name
        for name, method in methods.items()
        if _marks(method, {*words, receiver_of(method)} if called_itself else words)
    }
    called = {node.name} if found & {"__init__", "__call__"} else set[str]()
    return {name for name in found if not name.startswith("__")} | called


def gives_marker(value: ast.expr, words: AbstractSet[str]) -> bool:
    """Whether an expression is a marker: its name, or `getattr` of it."""
    if isinstance(value, ast.Call):
        name = value.args[1] if last_name(value) == "getattr" and len(value.args) > 1 else None
        return isinstance(name, ast.Constant) and name.value in words
    return isinstance(value, (ast.Name, ast.Attribute)) and last_name(value) in words


def _marks(node: FunctionNode, words: AbstractSet[str]) -> bool:
    return is_wrapper(node, words) or is_registrar(node, words)


def _marks_given(value: ast.expr, words: AbstractSet[str], given: AbstractSet[str]) -> bool:
    """Whether a value is what a marker makes of one of some names."""
    if not isinstance(value, ast.Call) or last_name(value) not in words:
        return False
    arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
    return any(_spelled(argument) in given for argument in arguments)


def _given(node: ast.AST) -> set[str]:
    """The parameters of a function and of those inside it, and the attributes that it sets to one of them."""
    names = {inner.arg for inner in walk(node) if isinstance(inner, ast.arg)}
    stores = [inner for inner in walk(node) if isinstance(inner, ast.Assign) and _spelled(inner.value) in names]
    return names | {_spelled(target) for store in stores for target in store.targets if isinstance(target, _Path)}


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
    storing = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STORING
    return node.args if storing and isinstance(node, ast.Call) else []


def _bound_to_marked(
    node: ast.FunctionDef | ast.AsyncFunctionDef, words: AbstractSet[str]
) -> tuple[set[str], set[str]]:
    """The names in a function that hold a marker or what one made, and those that one made of a parameter."""
    marked = {
        inner.name
        for inner in walk(node)
        if isinstance(inner, ast.FunctionDef) and inner is not node and _decorated(inner, words)
    }
    applied = set[str]()
    parameters = {one.arg for one in node.args.args}
    for inner in walk(node):
        if not isinstance(inner, ast.Assign):
            continue
        names = {last_name(target) for target in inner.targets}
        if gives_marker(inner.value, words):
            marked |= names
        elif isinstance(inner.value, ast.Call) and last_name(inner.value) in words:
            marked |= names
            given = {last_name(argument) for argument in inner.value.args}
            applied |= names if given & parameters else set[str]()
    return marked, applied


def _choices(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions that `a if test else b` and `a or b` choose from."""
    if isinstance(value, ast.IfExp):
        yield from _choices(value.body)
        yield from _choices(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from _choices(part)
    else:
        yield value


def _decorated(node: ast.FunctionDef, words: AbstractSet[str]) -> bool:
    return any(last_name(decorator) in words for decorator in node.decorator_list)


def _returns_marked(outer: ast.AST, name: str, words: AbstractSet[str]) -> bool:
    """Whether a function nested in a decorator factory returns what a marker makes."""
    for inner in walk(outer):
        if isinstance(inner, ast.FunctionDef) and inner.name == name and inner is not outer:
            return is_wrapper(inner, words)
    return False
