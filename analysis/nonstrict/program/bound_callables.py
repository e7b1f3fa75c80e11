"""Callables with arguments bound ahead: `functools.partial`, `functools.partialmethod`, `types.MethodType`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.places import FRESH
from nonstrict.program.values import PARTIAL_METHOD, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame


def partial(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """A function with some of its arguments."""
    if not positional:
        return UNKNOWN
    return Value(Kind.PARTIAL, FRESH, (positional[0], tuple(positional[1:]), tuple(keywords.items())))


def partial_method(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The same in a class: an instance becomes the first argument."""
    return partial(frame, node, positional, keywords)._replace(const=PARTIAL_METHOD)


def method(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`types.MethodType(function, receiver)`: a bound method."""
    if len(positional) != 2 or positional[0].kind is Kind.UNKNOWN:
        return UNKNOWN
    function, receiver = positional
    return Value(Kind.BOUND, FRESH, (receiver, function.ref if function.kind is Kind.FUNCTION else function))
