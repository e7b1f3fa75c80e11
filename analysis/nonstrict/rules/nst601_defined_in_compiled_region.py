"""NST601 defined-in-compiled-region: A marker is applied inside a compiled region, where Dynamo refuses it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.domain.events import Event
from nonstrict.findings import Applicability, Severity
from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.values import Kind
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.values import Value
    from nonstrict.rules.base import Body

_METHODS_SINCE = (2, 15)
_LOCAL = "a local function"
_LAMBDA = "a lambda"
_CACHED = "a function behind `functools.cache`"
#: What breaks the graph, where that is allowed; the rest fails there too.
_BREAKING = frozenset({_LOCAL, _LAMBDA, _CACHED})
_REFUSED = {
    Kind.PARTIAL: "a functools.partial",
    Kind.MODULE: "a module",
    Kind.OBJECT: "a callable object",
    Kind.INSTANCE: "a callable object",
    Kind.CLASS: "a class",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the markers that a region applies and Dynamo refuses."""
    for seen in body.observed(Event.MARKS):
        marker = MARKERS[seen.effect.what]
        api = seen.effect.what.rpartition(".")[2]
        if marker.kind == "make-fx":
            continue
        if marker.kind == "nonstrict":
            refused = _refused(seen.effect.value, body.torch)
            if not refused:
                continue
            message = f"`{api}` is applied to {refused} inside a compiled region"
        else:
            refused = _LOCAL
            message = f"`{api}` is called inside a compiled region"
        falls_back = not body.fullgraph and refused in _BREAKING
        severity = Severity.NOTE if falls_back else Severity.ERROR
        fate = "it silently runs in Python from here on" if falls_back else "compilation fails"
        note = f"Dynamo refuses it while it traces `{body.function}`: {fate}"
        advice = "apply the marker outside the compiled region, to a function at module level"
        yield report(RULE, body, seen, message, note=note, help=advice, severity=severity)


def fails_inside(body: Body) -> bool:
    """Whether Dynamo traces the application of a marker that it refuses: nothing is marked then."""
    if not body.applied.is_traced or body.marker == "make-fx":
        return False
    return body.marker != "nonstrict" or bool(_refused(body.applied.target, body.torch))


def _refused(target: Value, torch: tuple[int, int]) -> str:
    """What a value is that `nonstrict_trace` cannot be applied to while Dynamo traces; "" if it can, or may."""
    found = [_refusal(alternative, torch) for alternative in target.alternatives() if alternative.kind is not Kind.NONE]
    return found[0] if found and all(found) else ""


def _refusal(target: Value, torch: tuple[int, int]) -> str:
    if target.kind is Kind.FUNCTION:
        function = target.ref
        if function.cached_at is not None:
            return _CACHED
        local = function.closure is not None and not function.closure.static
        if not local:
            return ""
        return _LAMBDA if isinstance(function.node, ast.Lambda) else _LOCAL
    if target.kind is Kind.BOUND:
        return "a bound method" if torch < _METHODS_SINCE else ""
    if target.kind is Kind.MARKED:
        return "a function that is marked already" if target.ref.kind in ("nonstrict", "leaf", "custom-op") else ""
    if target.kind is Kind.EXTERNAL:
        return "a function of torch" if torch_function(target.ref) is not None else ""
    if target.kind is Kind.PARTIAL and target.ref[0].kind is Kind.EXTERNAL and target.ref[0].ref in MARKERS:
        return ""
    return _REFUSED.get(target.kind, "")


def fixes(context: Context) -> Iterator[Fix]:
    """Apply the marker outside the region."""
    from nonstrict.fixes.marks.outside import move_marker

    yield from move_marker(context)


RULE = Rule(
    code="NST601",
    name="defined-in-compiled-region",
    severity=Severity.ERROR,
    summary="A marker is applied inside a compiled region, where Dynamo refuses it.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.IN_MARKERS),
)
