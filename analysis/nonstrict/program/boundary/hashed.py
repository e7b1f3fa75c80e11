"""Uses of a symbolic integer that need its hash, and of an enumeration member that need its class."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.effects import span_of
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.program.body import MarkedBody
    from nonstrict.program.definitions import Function

_HASHED = frozenset({Kind.DICT, Kind.SET})
_LOOKUPS = frozenset({"get", "pop", "setdefault"})
_BUILT = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp)


def hashed(body: MarkedBody, name: str) -> list[Span]:
    """Where the marked function uses a parameter as the key of a dict, or as an argument of a cached function."""
    function = body.mark.function
    if function is None:
        return []
    symbolic = _symbolic_names(function, name)
    return [
        span_of(function.module.path, function.offset, node)
        for node in walk(function.node)
        if isinstance(node, ast.expr) and any(_is_symbolic(key, symbolic) for key in _keys(body, function, node))
    ]


def _keys(body: MarkedBody, function: Function, node: ast.expr) -> Iterator[ast.expr]:
    """The expressions that a node hashes."""
    if isinstance(node, ast.Subscript) and _hashes(body, function, node.value):
        yield node.slice
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        if _hashes(body, function, node.comparators[0]):
            yield node.left
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.Set):
        yield from node.elts
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKUPS and node.args:
            if _hashes(body, function, node.func.value):
                yield node.args[0]
        elif last_name(node) == "hash" or _is_cached(body, function, node.func):
            yield from node.args


def _hashes(body: MarkedBody, function: Function, container: ast.expr) -> bool:
    """Whether an expression is a dict or set, as far as is known."""
    if isinstance(container, _BUILT):
        return True
    root = container
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    if isinstance(container, ast.Name) and container.id in scope_of(function.node).local:
        return any(
            isinstance(node, ast.Assign)
            and isinstance(node.value, _BUILT)
            and any(getattr(target, "id", "") == container.id for target in node.targets)
            for node in walk(function.node)
        )
    if root.id in scope_of(function.node).local:
        return False
    frame = function.closure or body.machine.module_frame(function.module)
    return body.machine.evaluate(frame, container).kind in _HASHED


def _is_cached(body: MarkedBody, function: Function, callee: ast.expr) -> bool:
    if not isinstance(callee, ast.Name) or callee.id in scope_of(function.node).local:
        return False
    frame = function.closure or body.machine.module_frame(function.module)
    found = body.machine.evaluate(frame, callee)
    return found.kind is Kind.FUNCTION and found.ref.cached_at is not None


def _symbolic_names(function: Function, name: str) -> set[str]:
    """The parameter and the variables that are computed from it."""
    names = {name}
    for _ in range(3):
        for node in walk(function.node):
            if isinstance(node, ast.Assign) and _is_symbolic(node.value, names):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _is_symbolic(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression stays symbolic: arithmetic and text do, `int(n)` does not."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.BinOp):
        return _is_symbolic(node.left, names) or _is_symbolic(node.right, names)
    if isinstance(node, ast.JoinedStr):
        parts = (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        return any(_is_symbolic(part, names) for part in parts)
    if isinstance(node, ast.Tuple):
        return any(_is_symbolic(part, names) for part in node.elts)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("str", "abs", "max", "min"):
        return any(_is_symbolic(part, names) for part in node.args)
    return False


def needs_class(body: MarkedBody, name: str) -> list[Span]:
    """Where the marked function asks a parameter for more than its number: `is`, `isinstance`, `.name`, `.value`."""
    function = body.mark.function
    found: list[Span] = []
    for node in walk(function.node) if function is not None else ():
        asked: list[ast.AST] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            asked = [node.comparators[0]]
        elif isinstance(node, ast.Call) and last_name(node) in ("isinstance", "type", "repr", "str"):
            asked = [*node.args]
        elif isinstance(node, (ast.Attribute, ast.FormattedValue)):
            asked = [node.value]
        if function is not None and any(isinstance(one, ast.Name) and one.id == name for one in asked):
            found.append(span_of(function.module.path, function.offset, node))
    return found
