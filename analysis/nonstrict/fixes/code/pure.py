"""Expressions that only compute: left out, computed twice or computed elsewhere, they change nothing else."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nonstrict.fixes.code.names import bound, dotted
from nonstrict.knowledge.operators import tensor_method, torch_function
from nonstrict.models.entries import Doing
from nonstrict.models.library import SHIPPED
from nonstrict.models.members import CHANGING_ANY

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document

_ACTS = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_BUILTINS = frozenset(
    {
        *("abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod"),
        *("enumerate", "float", "format", "frozenset", "hasattr", "hash", "hex", "id", "int", "isinstance"),
        *("issubclass", "len", "list", "max", "min", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set"),
        *("slice", "sorted", "str", "sum", "tuple", "type", "zip"),
    }
)
#: Methods of strings, containers and mappings that change nothing.
_METHODS = frozenset({*dir(str), *dir(dict), *dir(tuple)}) - CHANGING_ANY
#: Effects of calls that plain Python does not notice when they are left out.
_UNNOTICED = frozenset(
    {Doing.ESCAPE, Doing.ENVIRON_READ, Doing.CLOCK, Doing.IDENTITY, Doing.TORCH_QUERY, Doing.TORCH_GUARDED}
)
_PURE_MODULES = frozenset({"math", "operator", "pickle", "copy", "cmath", "statistics", "time", "datetime", "weakref"})
#: Those whose objects never change.
_VALUE_MODULES = frozenset({"datetime", "fractions", "decimal", "uuid"})


def is_pure(document: Document, node: ast.AST) -> bool:
    """Whether evaluating an expression does nothing besides computing, as far as names tell; unknown calls may do."""
    return not any(
        acts_by_itself(part) or (isinstance(part, ast.Call) and not is_pure_call(document, part))
        for part in ast.walk(node)
    )


def acts_by_itself(node: ast.AST) -> bool:
    """Whether an expression, apart from its parts and no call, does more than compute: it binds, awaits or yields."""
    return isinstance(node, _ACTS)


def is_pure_call(document: Document, call: ast.Call) -> bool:
    """Whether a call, apart from its arguments, only computes."""
    if any(keyword.arg in ("out", "inplace", "file") for keyword in call.keywords):
        return False
    name = dotted(document, call.func)
    if name:
        return _is_pure_name(name)
    if isinstance(call.func, ast.Name):
        return call.func.id in _BUILTINS and call.func.id not in bound(document) and hasattr(builtins, call.func.id)
    if not isinstance(call.func, ast.Attribute) or _is_receiver(call.func.value):
        return False
    method = tensor_method(call.func.attr)
    if method is not None:
        return not method.mutates and not method.random and not call.func.attr.endswith("_")
    return call.func.attr in _METHODS or _is_of_value(document, call.func.value)


def _is_of_value(document: Document, receiver: ast.expr) -> bool:
    """Whether a method is one of what a module gives whose objects never change: `datetime.now().isoformat()`."""
    while isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute):
        if dotted(document, receiver.func).partition(".")[0] in _VALUE_MODULES:
            return True
        receiver = receiver.func.value
    return isinstance(receiver, ast.Call) and dotted(document, receiver.func).partition(".")[0] in _VALUE_MODULES


def _is_pure_name(name: str) -> bool:
    known = torch_function(name)
    if known is not None:
        return not known.mutates and not known.random and not name.endswith("_")
    described = SHIPPED.called(name)
    if described is not None:
        return described.effect is None or described.effect.doing in _UNNOTICED
    return name.partition(".")[0] in _PURE_MODULES


def _is_receiver(node: ast.expr) -> bool:
    """Whether a method is one of the class around: what it does is not told by its name."""
    return isinstance(node, ast.Name) and node.id in ("self", "cls")
