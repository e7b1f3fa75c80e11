"""What a marker is applied to, as far as the text of one definition tells."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name, of what a call calls, of what is indexed; "" for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "attr", getattr(node, "id", ""))


def promising(
    definition: ast.AST, names: AbstractSet[str], handed: AbstractSet[str], bound: AbstractSet[str] = frozenset()
) -> bool:
    """Whether a marker is applied to something that the program may define.

    `names` are words for markers, `handed` those that count also where they are only an argument: `map(mark, fns)`.
    `bound` are the names at the top level of the module: what a call of one of them makes may be of the program.

    A function that traces what it is given (`make_fx(fn)(*args)` with `fn` a parameter, or made elsewhere) marks
    nothing by itself; infrastructure is full of these.
    """
    calls: list[ast.Call] = []
    for inner in walk(definition):
        if isinstance(inner, (*_Function, ast.ClassDef)):
            if any(last_name(decorator) in names for decorator in inner.decorator_list):
                return True
        elif isinstance(inner, ast.Call):
            if last_name(inner.func) in names:
                calls.append(inner)
            elif any(last_name(value) in handed for value in inner.args):
                return True
    if not calls:
        return False
    inside = {inner.name for inner in walk(definition) if isinstance(inner, (*_Function, ast.ClassDef))}
    unknown = _unknown_names(definition, bound) - inside
    return any(_marks_known(call, unknown) for call in calls)


def _marks_known(call: ast.Call, unknown: AbstractSet[str]) -> bool:
    """Whether a call of a marker is given something that the program may define, or nothing yet."""
    if not call.args and not call.keywords:
        return True
    first = call.args[0] if call.args else call.keywords[0].value
    targets = [first, *(keyword.value for keyword in call.keywords if _is_target(keyword))]
    return any(not _is_unknown(value, unknown) for value in targets)


def _is_target(keyword: ast.keyword) -> bool:
    return keyword.arg in {"traceable_fn", "fn", "f", "mod", "func"}


def _is_unknown(value: ast.expr, unknown: AbstractSet[str]) -> bool:
    return isinstance(value, ast.Name) and value.id in unknown


def _unknown_names(definition: ast.AST, bound: AbstractSet[str]) -> set[str]:
    """Parameters, and locals bound to the results of calls: nothing is known of what they hold.

    Calls that only wrap a function (`partial`, `wraps`) keep it known, and so do constructors and functions that the
    module binds (`model = Model()`); a name that is also bound otherwise is known.
    """
    unknown: set[str] = set()
    known: set[str] = set()
    for inner in walk(definition):
        if isinstance(inner, (*_Function, ast.Lambda)):
            unknown.update(parameter_names(inner.args))
        elif isinstance(inner, ast.Assign):
            made = isinstance(inner.value, ast.Call) and not _keeps(inner.value, bound)
            names = {target.id for target in inner.targets if isinstance(target, ast.Name)}
            (unknown if made or isinstance(inner.value, ast.Await) else known).update(names)
        elif isinstance(inner, (ast.For, ast.AsyncFor)) and isinstance(inner.iter, (ast.Tuple, ast.List)):
            known.update(name.id for name in walk(inner.target) if isinstance(name, ast.Name))
    return unknown - known


def _keeps(call: ast.Call, bound: AbstractSet[str]) -> bool:
    return last_name(call) in _KEEPING or (isinstance(call.func, ast.Name) and call.func.id in bound)


_KEEPING = frozenset({"partial", "wraps", "no_grad", "staticmethod", "compile", "disable"})
