"""What `nonstrict_trace` cannot be applied to while Dynamo traces (NST601)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from nonstrict.program.values import Value
    from nonstrict.rules.base import Body

_METHODS_SINCE = (2, 15)
LOCAL = "a local function"
LAMBDA = "a lambda"
CACHED = "a function behind `functools.cache`"
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


def refused(target: Value, torch: tuple[int, int]) -> str:
    """What a value is that `nonstrict_trace` cannot be applied to while Dynamo traces; "" if it can, or may."""
    found = [_refusal(alternative, torch) for alternative in target.alternatives() if alternative.kind is not Kind.NONE]
    return found[0] if found and all(found) else ""


def _refusal(target: Value, torch: tuple[int, int]) -> str:
    if target.kind is Kind.FUNCTION:
        function = target.ref
        if function.cached_at is not None:
            return CACHED
        local = function.closure is not None and not function.closure.static
        if not local:
            return ""
        return LAMBDA if isinstance(function.node, ast.Lambda) else LOCAL
    if target.kind is Kind.BOUND:
        return "a bound method" if torch < _METHODS_SINCE else ""
    if target.kind is Kind.MARKED:
        return "a function that is marked already" if target.ref.kind in ("nonstrict", "leaf", "custom-op") else ""
    if target.kind is Kind.EXTERNAL:
        return "a function of torch" if torch_function(target.ref) is not None else ""
    if target.kind is Kind.PARTIAL and target.ref[0].kind is Kind.EXTERNAL and target.ref[0].ref in MARKERS:
        return ""
    return _REFUSED.get(target.kind, "")
