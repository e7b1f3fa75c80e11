"""The uses of a method: accesses of its name on objects that may be of its class, or of one that inherits it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.program.definitions import Class
from nonstrict.program.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses

#: Bases outside the program that call no methods of other classes but those that they define themselves.
_BASES = frozenset(
    {
        *("torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module", "builtins.object"),
        *("abc.ABC", "typing.Generic", "typing.Protocol"),
    }
)
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


class Found(NamedTuple):
    """Where a method is taken from an object or class, and what stands in the way of knowing all such places."""

    accesses: tuple[tuple[Document, ast.Attribute], ...]
    obstacles: tuple[Span, ...]


class Methods:
    """Looks for the uses of methods."""

    def __init__(self, uses: Uses) -> None:
        self.uses = uses

    def uses_of(self, document: Document, owner: ast.ClassDef, function: ast.AST) -> Found:
        """The uses of a method by its name."""
        name: str = getattr(function, "name", "")
        whole = self._class(document, owner)
        holding = self.uses.holding(name)
        if whole is None or holding is None or self._is_called_from_outside(whole, name):
            return Found((), (document.span(function),))
        if any(self._defines_too(other, whole, name) for other in holding):
            return Found((), (document.span(function),))
        accesses: list[tuple[Document, ast.Attribute]] = []
        obstacles: list[Span] = []
        for other in holding:
            for node in self.uses.scopes(other).attributes.get(name, ()):
                related = self._may_have(other, node.value, whole)
                if related is None:
                    obstacles.append(other.span(node))
                elif related:
                    accesses.append((other, node))
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
        known = value.kind is Kind.CLASS and isinstance(value.ref, Class) and value.ref.node.lineno
        return value.ref if known and _is_at(value.ref, document.span(node)) else None

    def _is_called_from_outside(self, owner: Class, name: str) -> bool:
        """Whether code outside the program may call a method: that of a base of which nothing is known."""
        if name.startswith("__") or name in _CALLED_BY_TORCH:
            return True
        return any(base not in _BASES for base in _foreign_bases(owner))

    def _defines_too(self, document: Document, owner: Class, name: str) -> bool:
        """Whether another class of the hierarchy, in some file, defines a method too."""
        for node in document.nodes:
            if isinstance(node, ast.ClassDef) and any(_defines(part, name) for part in node.body):
                other = self._class(document, node)
                if other is None or (other is not owner and _related(owner, other)):
                    return True
        return False

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
            scope = scopes.binder(node, node.id)
            if isinstance(scope, ast.Lambda):
                return _UNKNOWN
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return self._local(document, scope, node.id)
        return self.uses.value(document, node)

    def _local(self, document: Document, scope: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Value:
        bindings = list(self.uses.scopes(document).bindings(scope, name))
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


def _relation(value: Value, owner: Class) -> bool | None:
    if value.kind in (Kind.OBJECT, Kind.MODULE, Kind.CLASS):
        if isinstance(value.ref, Class):
            return _related(owner, value.ref)
        return False if isinstance(value.ref, str) else None
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
                yield base.ref if isinstance(base.ref, str) else ""
