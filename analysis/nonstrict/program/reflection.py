"""Attributes reached by builtins and through the dict that holds them: `setattr`, `vars(x).update(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program import attributes, namespaces, stores
from nonstrict.program.values import NONE, UNKNOWN, Kind, Value, join

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame


def vars_of(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`vars(x)`."""
    return (namespaces.of(positional[0]) if positional else None) or UNKNOWN


def set_attribute(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`setattr(x, name, value)`, and what does the same past the `__setattr__` of a class."""
    if len(positional) == 3:
        stores.set_attribute(frame, node, positional[0], namespaces.named(positional[1]), positional[2])
    return NONE


def delete_attribute(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`delattr(x, name)`."""
    if len(positional) == 2:
        stores.delete_attribute(frame, node, positional[0], namespaces.named(positional[1]))
    return NONE


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
