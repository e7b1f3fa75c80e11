"""The uses of a method: accesses of its name on objects that may be of its class, or of one that inherits it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import BASE_MODULES
from nonstrict.program.domain.definitions import Class
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses

#: Bases outside the program that call no methods of other classes but those that they define themselves.
_BASES = BASE_MODULES | {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"}
#: Methods of `nn.Module` that classes define anew, and that torch calls.
_CALLED_BY_TORCH = frozenset({"forward", "extra_repr", "train", "eval", "to", "get_extra_state", "set_extra_state"})
#: Values that have none of the program's methods.
_PLAIN = frozenset(
    {
        *(Kind.TENSOR, Kind.PARAMETER, Kind.STORAGE, Kind.GENERATOR, Kind.NUMPY, Kind.LIST, Kind.DICT, Kind.SET),
        *(Kind.TUPLE, Kind.DEQUE, Kind.ITERATOR, Kind.NUMBER, Kind.STRING, Kind.BOOL, Kind.SIZE, Kind.SETTING),
        *(Kind.NONE, Kind.EXTERNAL, Kind.EXTERNAL_METHOD, Kind.INSTANCE, Kind.PYTHON_MODULE, Kind.FUNCTION),
        *(Kind.BOUND, Kind.MARKED),
    }
)


class Method(NamedTuple):
    """The definition of a method in a class."""

    document: Document
    node: ast.FunctionDef | ast.AsyncFunctionDef
    owner: Class


class Found(NamedTuple):
    """Where a method is taken from an object or class, and what stands in the way of knowing all such places.

    `family` are all definitions of the method, in the classes above and below.
    """

    accesses: tuple[tuple[Document, ast.Attribute], ...]
    obstacles: tuple[Span, ...]
    family: tuple[Method, ...] = ()


class Methods:
    """Looks for the uses of methods."""

    def __init__(self, uses: Uses) -> None:
        self.uses = uses

    def uses_of(
        self, document: Document, owner: ast.ClassDef, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Found:
        """The uses of a method by its name."""
        name = function.name
        whole = self._class(document, owner)
        holding = self.uses.holding(name)
        family = self._family(holding, Method(document, function, whole)) if whole and holding else None
        if holding is None or not family or any(self._is_called_from_outside(one.owner, name) for one in family):
            return Found((), (document.span(function),))
        found = self._accesses(holding, name, [one.owner for one in family])
        return found._replace(family=family)

    def modules_with(self, family: tuple[Method, ...]) -> list[Class] | None:
        """The modules that define or inherit some definitions of `forward`; None if one may be missed."""
        found = [one.owner for one in family]
        if not any(not BASE_MODULES.isdisjoint(_foreign_bases(owner)) for owner in found):
            return None
        for owner in found:
            holding = self.uses.holding(owner.name, owner.module.path)
            if holding is None:
                return None
            for document in holding:
                named = (node for node in document.of(ast.ClassDef) if node.bases)
                known = (self._class(document, node) for node in named)
                found += (one for one in known if one is not None and one not in found and owner in _with_bases(one))
        return found

    def uses_of_attribute(self, document: Document, target: ast.Attribute) -> Found:
        """The uses of an attribute that is set on an object, on all objects of its class."""
        value, holding = self._value(document, target.value), self.uses.holding(target.attr)
        taken = target.attr.startswith("__") or target.attr in _CALLED_BY_TORCH
        if taken or holding is None or not isinstance(value.ref, Class) or value.kind not in (Kind.OBJECT, Kind.MODULE):
            return Found((), (document.span(target),))
        found = self._accesses(holding, target.attr, [value.ref])
        defined = [span for other in holding for span in self._definitions(other, value.ref, target.attr)]
        return found._replace(obstacles=(*found.obstacles, *defined))

    def _accesses(self, holding: list[Document], name: str, owners: list[Class]) -> Found:
        """Where a name is taken from objects that may be of some classes, and where that cannot be told."""
        accesses: list[tuple[Document, ast.Attribute]] = []
        obstacles: list[Span] = []
        for other in holding:
            for node in self.uses.scopes(other).text.attributes.get(name, ()):
                related = {self._may_have(other, node.value, owner) for owner in owners}
                if True in related:
                    accesses.append((other, node))
                elif None in related:
                    obstacles.append(other.span(node))
        return Found(tuple(accesses), tuple(obstacles))

    def bound(self, document: Document, function: ast.AST, access: ast.Attribute) -> ast.expr | None:
        """The object that a method is called on; None if that is its class, and the object is an argument."""
        decorators = {last_name(one) for one in getattr(function, "decorator_list", ())}
        if "staticmethod" in decorators:
            return None
        if "classmethod" in decorators or self.uses.value(document, access.value).kind is not Kind.CLASS:
            return access.value
        return None

    # -- classes --------------------------------------------------------------------------------------------------

    def _class(self, document: Document, node: ast.ClassDef) -> Class | None:
        """The class of the program that a top-level definition is."""
        if not isinstance(document.parent(node), ast.Module):
            return None
        value = self.uses.machine.global_value(self.uses.scopes(document).module, node.name)
        cls = value.of_class if value.kind is Kind.CLASS else None
        return cls if cls is not None and _is_at(cls, document.span(node)) else None

    def _is_called_from_outside(self, owner: Class, name: str) -> bool:
        """Whether code outside the program may call a method: that of a base of which nothing is known."""
        if name.startswith("__") or (name in _CALLED_BY_TORCH and name != "forward"):
            return True
        return any(base not in _BASES for base in _foreign_bases(owner))

    def _family(self, holding: list[Document], method: Method) -> tuple[Method, ...] | None:
        """The definitions of a method in all classes of its hierarchy; None if one is more than a definition."""
        found, name = [method], method.node.name
        candidates = [
            (document, node)
            for document in holding
            for node in document.of(ast.ClassDef)
            if any(_defines(part, name) for part in node.body)
        ]
        for known in found:
            for document, node in candidates:
                owner = self._class(document, node)
                if owner is not None and (owner in [one.owner for one in found] or not _related(known.owner, owner)):
                    continue
                definitions = [part for part in node.body if _defines(part, name)]
                definition = definitions[0] if owner is not None and len(definitions) == 1 else None
                if owner is None or not _is_alike(definition, method.node):
                    return None
                found.append(Method(document, definition, owner))
        return tuple(found)

    def _definitions(self, document: Document, owner: Class, name: str) -> Iterator[Span]:
        """What in the bodies of related classes binds a name."""
        for node in document.of(ast.ClassDef):
            if any(_defines(part, name) for part in node.body):
                other = self._class(document, node)
                if other is None or _related(owner, other):
                    yield document.span(node)

    def _may_have(self, document: Document, node: ast.expr, owner: Class) -> bool | None:
        """Whether an object may be of a class, one that inherits it, or one of its bases; None if that is not known."""
        value = self._value(document, node)
        verdicts = {_relation(alternative, owner) for alternative in value.alternatives()}
        if None in verdicts:
            return None
        return True in verdicts if len(verdicts) == 1 else None

    def _value(self, document: Document, node: ast.expr) -> Value:
        """What a receiver is: `self`, `super()`, a class, or a variable of which its one assignment tells."""
        scopes = self.uses.scopes(document)
        if isinstance(node, ast.Call) and last_name(node.func) == "super":
            return self._instance(document, _class_around(document, node))
        if isinstance(node, ast.Name):
            scope = scopes.text.binder(node, node.id)
            if isinstance(scope, ast.Lambda):
                return _UNKNOWN
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return self._local(document, scope, node.id)
        return self.uses.value(document, node)

    def _local(self, document: Document, scope: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Value:
        bindings = list(self.uses.scopes(document).text.bindings(scope, name))
        binding = bindings[0] if len(bindings) == 1 else None
        owner = document.parent(scope)
        arguments = [*scope.args.posonlyargs, *scope.args.args]
        static = any(last_name(one) == "staticmethod" for one in scope.decorator_list)
        if isinstance(owner, ast.ClassDef) and not static and arguments and binding is arguments[0]:
            return self._instance(document, owner)
        if isinstance(binding, ast.arg) and binding.annotation is not None:
            made = self.uses.value(document, binding.annotation)
            return Value(Kind.OBJECT, ref=made.ref) if made.kind is Kind.CLASS else _UNKNOWN
        statement = document.parent(binding) if binding is not None else None
        if isinstance(statement, ast.Assign) and statement.targets == [binding]:
            return self._value(document, statement.value)
        return _UNKNOWN

    def _instance(self, document: Document, owner: ast.ClassDef | None) -> Value:
        known = self._class(document, owner) if owner is not None else None
        return Value(Kind.OBJECT, ref=known) if known is not None else _UNKNOWN


_UNKNOWN = Value(Kind.UNKNOWN)


def _class_around(document: Document, node: ast.AST) -> ast.ClassDef | None:
    return next((outer for outer in document.around(node) if isinstance(outer, ast.ClassDef)), None)


def _is_at(known: Class, span: Span) -> bool:
    return known.module.path == span.path and known.node.lineno + known.offset == span.line


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name


def _is_alike(
    one: ast.stmt | None, other: ast.FunctionDef | ast.AsyncFunctionDef
) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Whether a definition is a method of the same sort as another one, not a static one or a property."""
    return isinstance(one, type(other)) and _sorts(one) == _sorts(other)


def _sorts(method: ast.AST) -> set[str]:
    return {last_name(one) for one in getattr(method, "decorator_list", ())} & {
        "staticmethod",
        "classmethod",
        "property",
    }


def _relation(value: Value, owner: Class) -> bool | None:
    if value.kind in (Kind.OBJECT, Kind.MODULE, Kind.CLASS):
        if isinstance(value.ref, Class):
            return _related(owner, value.ref)
        return False if value.dotted else None
    return False if value.kind in _PLAIN else None


def _related(one: Class, other: Class) -> bool:
    """Whether one class is, inherits, or is inherited by another one."""
    return one in _with_bases(other) or other in _with_bases(one)


def _with_bases(cls: Class) -> Iterator[Class]:
    yield cls
    for base in cls.bases:
        if base.kind is Kind.CLASS and isinstance(base.ref, Class):
            yield from _with_bases(base.ref)


def _foreign_bases(cls: Class) -> Iterator[str]:
    """The bases of a class that are not of the program, by their dotted names; "" for those that are not known."""
    for known in _with_bases(cls):
        for base in known.bases:
            if not (base.kind is Kind.CLASS and isinstance(base.ref, Class)):
                yield base.dotted
