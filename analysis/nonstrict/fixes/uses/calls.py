"""A call of a function as a fix sees it: where it is written, and how the code around it came to have the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document


class Bound(NamedTuple):
    """The object that the first parameter of a method takes, as it is written where the method is taken from it."""

    document: Document
    node: ast.expr


class Kept(NamedTuple):
    """An attribute that keeps the function: whose attribute is set, and whose attribute is called."""

    document: Document
    set_on: ast.expr
    called_on: ast.expr


class Made(NamedTuple):
    """The call of a factory that made the function, and the attribute by which the code around it was reached."""

    factory: FunctionNode
    call: Call


class Call(NamedTuple):
    """A call of the function.

    `bound` is set if the first parameter takes no argument of the call. `made` are the calls of the factories around
    the function that made the one that is called, the innermost first; `kept` is the attribute that it was kept in.
    """

    document: Document
    node: ast.Call
    bound: Bound | None = None
    made: tuple[Made, ...] = ()
    kept: Kept | None = None


class References(NamedTuple):
    """The uses of a function; `obstacles` are those that are no calls, or that cannot be told.

    Calls of a method may also be calls of `overrides`: methods of its name in classes above and below.
    """

    calls: tuple[Call, ...]
    obstacles: tuple[Span, ...]
    overrides: tuple[tuple[Document, FunctionNode], ...] = ()


class Way(NamedTuple):
    """How an expression came to be the function: taken from an object, made by factories, kept in an attribute."""

    bound: Bound | None = None
    made: tuple[Made, ...] = ()
    kept: Kept | None = None


def argument(function: FunctionNode, call: Call, parameter: str) -> ast.expr | None:
    """What a call passes for a parameter; None if it leaves it out."""
    for keyword in call.node.keywords:
        if keyword.arg == parameter:
            return keyword.value
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    index = names.index(parameter) - (call.bound is not None) if parameter in names else -1
    return call.node.args[index] if 0 <= index < len(call.node.args) else None
