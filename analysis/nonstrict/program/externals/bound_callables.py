"""Callables made of others: `functools.partial`, `partialmethod`, `types.MethodType`, `types.FunctionType`.

What is bound in them tells too whether they apply a marker, or compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.references import Bound, Partial
from nonstrict.program.domain.values import GLOBALS, PARTIAL_METHOD, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

_PARTIAL = "functools.partial"
#: What a copy of a code object may have of its own: it runs the same instructions.
_LABELS = frozenset({"co_filename", "co_firstlineno", "co_name", "co_qualname"})


def partial(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """A function with some of its arguments."""
    if not positional:
        return UNKNOWN
    return Value(Kind.PARTIAL, FRESH, Partial(positional[0], tuple(positional[1:]), tuple(keywords.items())))


def partial_method(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The same in a class: an instance becomes the first argument."""
    return partial(frame, node, positional, keywords)._replace(const=PARTIAL_METHOD)


def method(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`types.MethodType(function, receiver)`: a bound method."""
    if len(positional) != 2 or positional[0].kind is Kind.UNKNOWN:
        return UNKNOWN
    function, receiver = positional
    return Value(Kind.BOUND, FRESH, Bound(receiver, function.function or function))


def copied(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`types.FunctionType(f.__code__, f.__globals__, ...)`: another function that does what `f` does."""
    given = dict(zip(("code", "globals", "name", "argdefs", "closure"), positional, strict=False)) | keywords
    function = _owner(given.get("code", UNKNOWN), "__code__")
    if function is None or function.function is None or not _sees_the_same(frame, function.function, given):
        return UNKNOWN
    return function


def code_method(receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value | None:
    """`f.__code__.replace(co_name=...)`: the same code; None for anything else."""
    if name != "replace" or positional or not keywords.keys() <= _LABELS:
        return None
    return receiver if _owner(receiver, "__code__") is not None else None


def _owner(value: Value, attribute: str) -> Value | None:
    """The function of the program of which a value is such an attribute."""
    read = value.external_method
    return read.receiver if read is not None and read.name == attribute and read.receiver.function else None


def _sees_the_same(frame: Frame, function: Function, given: dict[str, Value]) -> bool:
    """Whether the names in a copy of a function mean what they mean in the function."""
    names = given.get("globals", UNKNOWN)
    source = _owner(names, "__globals__")
    defining = source.function if source is not None else None
    module = frame.module if names.dotted == GLOBALS else defining.module if defining is not None else None
    cells = _owner(given.get("closure", UNKNOWN), "__closure__")
    enclosed = function.closure is None or (cells is not None and cells.ref is function)
    return module is function.module and enclosed


def holds_marker(value: Value) -> bool:
    """Whether a value may be a marker, or a container of which one is an item."""
    if value.kind in (Kind.DICT, Kind.LIST, Kind.TUPLE):
        return value.heap is not None and any(map(is_marker, value.heap.items.values()))
    return any(map(is_marker, value.alternatives()))


def is_marker(value: Value) -> bool:
    """Whether a value is a marker, perhaps with arguments bound."""
    if value.partial is not None:
        return is_marker(value.partial.function)
    return value.kind is Kind.EXTERNAL and value.dotted in MARKERS


def takes_options(callee: Value) -> bool:
    """Whether a call may hand options on to what compiles: itself, or a function of the program by its `**kwargs`."""
    return any(map(_may_take, callee.alternatives()))


def _may_take(callee: Value) -> bool:
    if callee.partial is not None:
        return takes_options(callee.partial.function)
    if callee.kind is Kind.EXTERNAL:
        return callee.dotted == _PARTIAL or (callee.dotted in MARKERS and MARKERS[callee.dotted].kind == "compiled")
    if callee.external_method is not None:
        return callee.external_method.name == "compile"
    return callee.function is not None and callee.function.node.args.kwarg is not None
