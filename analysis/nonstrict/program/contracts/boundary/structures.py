"""Results whose structure depends on state that the body itself changes: each run of tracing finds another one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.domain.effects import span_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function

_COMPREHENSIONS = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_COPIES = frozenset({"list", "tuple", "dict", "copy", "sorted"})


def varying(body: Interpreted) -> list[Span]:
    """The results of a marked function whose structure depends on what the body changes, or on chance."""
    function = body.mark.function
    if function is None or isinstance(function.node, ast.Lambda):
        return []
    state = _changed(body)
    drawn = {id(seen.effect.node) for seen in body.observed(Event.RANDOM)}
    if not state and not drawn:
        return []
    names = _tainted(function, state, drawn)
    tensors = {node for node, value in body.summary.held.items() if value.is_tensor}
    found = [*_shaped(function, names, drawn), *_chosen(function, names, drawn, tensors)]
    return [span_of(function.module.path, function.offset, node) for node in dict.fromkeys(found)]


def _changed(body: Interpreted) -> set[str]:
    """The names, and attributes, of captured state that the body writes."""
    places = [seen.effect.place for seen in body.observed(Event.WRITE, Event.LEAK)]
    return {place.key.lstrip(".") for place in places if place.captured or place.path}


def _tainted(function: Function, state: set[str], drawn: set[int]) -> set[str]:
    """The names whose value depends on the state; the tensors computed with it do not count as structure."""
    names = set(state)
    for _ in range(3):
        for node in own_scope(function.node):
            if isinstance(node, ast.Assign) and _depends(node.value, names, drawn):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _depends(node: ast.AST, names: set[str], drawn: set[int]) -> bool:
    return any(
        (isinstance(inner, ast.Name) and inner.id in names)
        or (isinstance(inner, ast.Attribute) and inner.attr in names)
        or id(inner) in drawn
        for inner in walk(node)
    )


# -- how long a container is --------------------------------------------------------------------------------------


def _shaped(function: Function, names: set[str], drawn: set[int]) -> Iterator[ast.expr]:
    """The results whose length depends on the state."""
    for node in own_scope(function.node):
        if isinstance(node, ast.Return) and node.value is not None:
            value = _resolved(function, node.value)
            filled = isinstance(node.value, ast.Name) and _is_filled(function, node.value.id, names, drawn)
            if filled or any(_is_sized_by(part, names, drawn) for part in _parts(value)):
                yield node.value


def _is_filled(function: Function, name: str, names: set[str], drawn: set[int]) -> bool:
    """Whether a loop or branch that depends on the state appends to a list of the function."""
    for node in own_scope(function.node):
        deciding = (
            node.iter if isinstance(node, ast.For) else node.test if isinstance(node, (ast.If, ast.While)) else None
        )
        if deciding is not None and _depends(deciding, names, drawn):
            for inner in walk(node):
                called = inner.func if isinstance(inner, ast.Call) else None
                fills = isinstance(called, ast.Attribute) and called.attr in ("append", "extend", "insert")
                if fills and isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == name:
                    return True
    return False


def _resolved(function: Function, value: ast.expr) -> ast.expr:
    """The expression that a returned variable was given, if it is given one only."""
    if not isinstance(value, ast.Name):
        return value
    given = [
        node.value
        for node in own_scope(function.node)
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == value.id for target in node.targets)
    ]
    return given[0] if len(given) == 1 else value


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    yield value
    if isinstance(value, (ast.Tuple, ast.List)):
        for element in value.elts:
            yield from _parts(element.value if isinstance(element, ast.Starred) else element)
    elif isinstance(value, ast.Dict):
        for element in value.values:
            yield from _parts(element)


def _is_sized_by(value: ast.expr, names: set[str], drawn: set[int]) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        left, right = value.left, value.right
        if isinstance(left, (ast.List, ast.Tuple)):
            return _depends(right, names, drawn)
        return isinstance(right, (ast.List, ast.Tuple)) and _depends(left, names, drawn)
    if isinstance(value, _COMPREHENSIONS):
        conditions = [test for generator in value.generators for test in generator.ifs]
        iterated = [generator.iter for generator in value.generators]
        return any(_depends(part, names, drawn) for part in (*iterated, *conditions))
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        return isinstance(value.value, (ast.List, ast.Tuple)) and _depends(value.slice, names, drawn)
    if isinstance(value, ast.Dict):
        return any(key is not None and _depends(key, names, drawn) for key in value.keys)
    if isinstance(value, ast.Call) and getattr(value.func, "id", getattr(value.func, "attr", "")) in _COPIES:
        given = [*value.args, *([value.func.value] if isinstance(value.func, ast.Attribute) else [])]
        if any(isinstance(one, _COMPREHENSIONS) and _is_sized_by(one, names, drawn) for one in given):
            return True
        return any(isinstance(one, (ast.Name, ast.Attribute)) and _depends(one, names, drawn) for one in given)
    return False


# -- which of several results -------------------------------------------------------------------------------------


def _chosen(function: Function, names: set[str], drawn: set[int], tensors: set[ast.AST]) -> Iterator[ast.expr]:
    """The results that a condition on the state chooses, where they differ in structure.

    `tensors` are the statements that surely return a single tensor.
    """
    returns = [node for node in own_scope(function.node) if isinstance(node, ast.Return) and node.value is not None]
    for node in own_scope(function.node):
        if isinstance(node, ast.If) and _depends(node.test, names, drawn):
            inside = [one for one in returns if any(inner is one for part in node.body for inner in walk(part))]
            others = [one for one in returns if one not in inside and one.lineno > node.lineno]
            for one in inside:
                shapes = {("value",) if other in tensors else _shape_of(other) for other in others}
                own = ("value",) if one in tensors else _shape_of(one)
                if one.value is not None and own is not None and not shapes <= {own, None}:
                    yield one.value
        elif isinstance(node, ast.IfExp) and _depends(node.test, names, drawn):
            direct = any(
                one.value is node or (isinstance(one.value, ast.Tuple) and node in one.value.elts) for one in returns
            )
            if direct and _differ(node.body, node.orelse):
                yield node


def _shape_of(statement: ast.Return) -> tuple[object, ...] | None:
    return _shape(statement.value) if statement.value is not None else None


def _differ(left: ast.expr, right: ast.expr) -> bool:
    """Whether two results surely have another structure: a container against another, or against a single value."""
    shapes = (_shape(left), _shape(right))
    return None not in shapes and shapes[0] != shapes[1]


def _shape(value: ast.expr) -> tuple[object, ...] | None:
    if isinstance(value, (ast.Tuple, ast.List)):
        return (type(value).__name__, len(value.elts), *(_shape(element) for element in value.elts))
    if isinstance(value, ast.Dict):
        return ("Dict", *(key.value if isinstance(key, ast.Constant) else None for key in value.keys))
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return ("value",)
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return None if name in _COPIES else ("value",)
    return None
