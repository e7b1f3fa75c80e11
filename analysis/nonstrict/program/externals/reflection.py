"""Attributes reached by builtins and through the dict that holds them: `setattr`, `vars(x).update(...)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.domain.references import Pattern
from nonstrict.program.domain.values import NONE, UNKNOWN, Kind, Value, join
from nonstrict.program.objects import attributes, namespaces, stores

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

#: More attributes that a name may mean tell nothing.
_MAX_MEANT = 12


def vars_of(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`vars(x)`."""
    return (namespaces.of(positional[0]) if positional else None) or UNKNOWN


def get_attribute(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`getattr(x, name)`, with or without a default."""
    if len(positional) > 1:
        frame.consume(node, positional[1])
    if len(positional) < 2:
        return UNKNOWN
    if not isinstance(positional[1].const, str):
        return _any_attribute(frame, node, positional[0], positional[1])
    found = _attribute(frame, node, positional[0], positional[1].const)
    if len(positional) > 2:
        if found.kind is Kind.EXTERNAL_METHOD:
            attributes.asked_for(frame, node, positional[0], positional[1].const, positional[2])
            if positional[2].kind is Kind.NONE:
                # It may be there all the same: the place tells that None is no more than a possibility.
                return join(found, NONE.at(positional[0].place.step(f".{positional[1].const}")))
        if positional[2].kind is not Kind.NONE:
            return join(found, positional[2])
    return found


def _attribute(frame: Frame, node: ast.AST, base: Value, name: str) -> Value:
    made = ast.Attribute(value=ast.Name(id="_", ctx=ast.Load()), attr=name, ctx=ast.Load())
    ast.copy_location(made, node)
    made.value = node.args[0] if isinstance(node, ast.Call) else made.value
    return attributes.load(frame, made, base, name)


def _any_attribute(frame: Frame, node: ast.AST, base: Value, name: Value) -> Value:
    """The attributes of an object that a name may mean of which only a part is known: `getattr(self, f"layer{i}")`."""
    if base.heap is None or base.kind not in (Kind.OBJECT, Kind.MODULE) or not isinstance(name.ref, Pattern):
        return UNKNOWN
    meant = [known for known in base.heap.attributes if name.ref.fits(known)]
    # What was stored under a name that is not known may be any of those.
    meant += [namespaces.ANY] if namespaces.ANY in base.heap.attributes else []
    if len(meant) > _MAX_MEANT:
        return UNKNOWN
    found = base.heap.loose if base.kind is Kind.MODULE else None
    for known in meant:
        found = join(found, _attribute(frame, node, base, known))
    return found or UNKNOWN


def set_attribute(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`setattr(x, name, value)`, and what does the same past the `__setattr__` of a class."""
    for alternative in positional[0].alternatives() if len(positional) == 3 else ():
        stores.set_attribute(frame, node, alternative, namespaces.named(positional[1]), positional[2])
    return NONE


def delete_attribute(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`delattr(x, name)`."""
    if len(positional) == 2:
        stores.delete_attribute(frame, node, positional[0], namespaces.named(positional[1]))
    return NONE


def replace_for_a_while(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`mock.patch.object(x, name, value)`: what the code around it calls finds the value there."""
    if len(positional) > 1 and frame.plain and frame.is_around_regions():
        given = positional[2] if len(positional) > 2 else keywords.get("new", UNKNOWN)
        set_attribute(frame, node, [*positional[:2], given], {})
    return UNKNOWN


def inherited(frame: Frame, node: ast.AST, base: Value, name: str, positional: list[Value]) -> Value | None:
    """`super().__setattr__(name, value)` and the like; None for other methods."""
    if name == "__setattr__" and len(positional) == 2:
        return set_attribute(frame, node, [base, *positional], {})
    if name == "__delattr__" and len(positional) == 1:
        return delete_attribute(frame, node, [base, *positional], {})
    return None


def method(
    frame: Frame, node: ast.AST, base: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value | None:
    """The result of `vars(base).name(...)` where that changes attributes, or reads one; None elsewhere."""
    if name == "update":
        _update(frame, node, base, positional, keywords)
        return NONE
    if name == "clear":
        stores.delete_attribute(frame, node, base, namespaces.ANY)
        return NONE
    if name not in ("get", "pop", "setdefault", "__setitem__") or not positional:
        return None
    key = positional[0]
    if name == "__setitem__":
        stores.set_attribute(frame, node, base, namespaces.named(key), positional[-1])
        return NONE
    found = attributes.entry_of(frame, node, base, key)
    if name == "setdefault" and len(positional) > 1:
        stores.set_attribute(frame, node, base, namespaces.named(key), positional[1])
    elif name == "pop":
        stores.delete_attribute(frame, node, base, namespaces.named(key))
    return join(found, positional[1]) if len(positional) > 1 else found


def _update(frame: Frame, node: ast.AST, base: Value, positional: list[Value], keywords: dict[str, Value]) -> None:
    given = dict(keywords)
    for value in positional:
        items = value.heap.items if value.kind is Kind.DICT and value.heap is not None else {}
        if not items or not all(isinstance(key, str) for key in items):
            stores.set_attribute(frame, node, base, namespaces.ANY, UNKNOWN)
        given.update((str(key), item) for key, item in items.items())
    for name, value in given.items():
        stores.set_attribute(frame, node, base, name, value)
