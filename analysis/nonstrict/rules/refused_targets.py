"""What `nonstrict_trace` cannot be applied to while Dynamo traces (NST601)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body

_METHODS_SINCE = (2, 15)


class Target(NamedTuple):
    """What a marker is applied to; whether it `breaks` the graph where that is allowed, or fails there too."""

    text: str
    breaks: bool = False


LOCAL = Target("a local function", breaks=True)
_REFUSED = {
    Kind.PARTIAL: "a functools.partial",
    Kind.MODULE: "a module",
    Kind.OBJECT: "a callable object",
    Kind.INSTANCE: "a callable object",
    Kind.CLASS: "a class",
}


def fails_inside(body: Body) -> bool:
    """Whether Dynamo traces the application of a marker that it refuses: nothing is marked then."""
    if not body.applied.is_traced or body.marker == "make-fx":
        return False
    return body.marker != "nonstrict" or bool(refused(body.applied.target, body.torch))


def refused(target: Value, torch: tuple[int, int]) -> Target | None:
    """What a value is that `nonstrict_trace` cannot be applied to while Dynamo traces; None if it can, or may."""
    found = [_refusal(alternative, torch) for alternative in target.alternatives() if alternative.kind is not Kind.NONE]
    return found[0] if found and all(found) else None


def _is_marker(value: Value) -> bool:
    return value.kind is Kind.EXTERNAL and value.dotted in MARKERS


def _refusal(target: Value, torch: tuple[int, int]) -> Target | None:
    if target.function is not None:
        return _of_function(target.function)
    text = _REFUSED.get(target.kind, "")
    if target.kind is Kind.BOUND:
        text = "a bound method" if torch < _METHODS_SINCE else ""
    elif target.mark is not None:
        text = "an already marked function" if target.mark.kind in ("nonstrict", "leaf", "custom-op") else ""
    elif target.kind is Kind.EXTERNAL:
        text = "a function of torch" if torch_function(target.dotted) is not None else ""
    elif target.partial is not None and _is_marker(target.partial.function):
        text = ""
    return Target(text) if text else None


def _of_function(function: Function) -> Target | None:
    if function.cached_at is not None:
        return Target("a function behind `functools.cache`", breaks=True)
    if function.closure is None or function.closure.static:
        return None
    return Target("a lambda", breaks=True) if isinstance(function.node, ast.Lambda) else LOCAL
