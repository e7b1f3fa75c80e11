"""NST602 conflicting-decorators.

A marker on a function that it cannot mark, because of another decorator or of what the function is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.values import Kind
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Span
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_DISABLING = ("disable", "_disable_dynamo", "disallow_in_graph")
_CLASSMETHOD = "builtins.classmethod"
_STATICMETHOD = "builtins.staticmethod"
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
#: Markers that refuse a decorator below them when they are applied, and ones that cannot pass a class in a region.
_NOT_OVER = {
    "nonstrict": frozenset({_CLASSMETHOD, *_PROPERTIES}),
    "in-graph": frozenset({_CLASSMETHOD, _STATICMETHOD, *_PROPERTIES}),
    "leaf": frozenset({_CLASSMETHOD, *_PROPERTIES}),
    "constant-result": frozenset(_PROPERTIES),
}
_NOT_UNDER_CLASSMETHOD = frozenset({"nonstrict", "leaf"})
_NOT_ON_FORWARD = _NOT_UNDER_CLASSMETHOD


class Conflict(NamedTuple):
    """What keeps a function from being marked, why, what to do, and the other decorator.

    `at_once`: torch refuses it when it is marked; `uncalled_is_fine`: the function works outside compiled regions.
    """

    what: str
    why: str
    advice: str
    other: Span | None = None
    at_once: bool = False
    uncalled_is_fine: bool = False


def examine(body: Body) -> Iterator[Finding]:
    """Yield what a marker cannot be combined with; the first reason is enough."""
    conflict = conflict_of(body)
    if conflict is None:
        return
    evidence = (Related(conflict.other, "the other decorator"),) if conflict.other is not None else ()
    falls_back = not conflict.at_once and body.applied.falls_back
    why = f"{conflict.why}; without `fullgraph=True` it silently runs in Python" if falls_back else conflict.why
    severity = Severity.NOTE if falls_back else Severity.ERROR
    if conflict.uncalled_is_fine and not (body.applied.compiled_calls or body.applied.is_compiled):
        severity = Severity.WARNING
    yield report_at(
        RULE, body, body.marked_at, conflict.what, note=why, help=conflict.advice, severity=severity, evidence=evidence
    )


def conflict_of(body: Body) -> Conflict | None:
    """The reason why torch refuses to mark a function, if there is one."""
    return _with_leaf(body) or _decorated(body) or _kind_of_function(body) or _forward(body)


def _with_leaf(body: Body) -> Conflict | None:
    if body.marker not in ("nonstrict", "leaf"):
        return None
    other = "leaf" if body.marker == "nonstrict" else "nonstrict"
    stack = body.applied.stack
    spans = [applied.span for applied in (*stack.above, *stack.below) if applied.kind == other]
    target = body.applied.target
    if not spans and not (target.kind is Kind.MARKED and target.ref.kind == other):
        return None
    what = f"`{called(body)}` is marked with `nonstrict_trace` and with `leaf_function`"
    other_marker = spans[0] if spans else None
    return Conflict(what, "torch refuses both together", "keep one of the two markers", other_marker, at_once=True)


def _decorated(body: Body) -> Conflict | None:
    stack, api = body.applied.stack, body.api
    for applied in stack.above:
        if applied.kind == "disable" and applied.name.rpartition(".")[2] in _DISABLING:
            what, why = f"`{applied.name}` stands above `{api}`", f"no compiled region can call `{body.function}`"
            advice = f"put `{api}` above `disable`, or drop `disable`"
            return Conflict(what, why, advice, applied.span, uncalled_is_fine=True)
        if applied.name == _CLASSMETHOD and body.marker in _NOT_UNDER_CLASSMETHOD:
            what = f"`{called(body)}` is a class method"
            why = "torch refuses the class as an input of a marked function"
            return Conflict(what, why, _instead(body, "classmethod"), applied.span, at_once=body.marker == "leaf")
    for applied in stack.below:
        if applied.name in _NOT_OVER.get(body.marker, ()):
            last = applied.name.rpartition(".")[2]
            what, why = f"`{api}` stands above `@{last}`, which is no function", "torch refuses to mark it"
            return Conflict(what, why, _instead(body, last), applied.span, at_once=True)
    return None


def _instead(body: Body, below: str) -> str:
    if below == "classmethod":
        return "mark a static method or a function, and pass what it needs of the class"
    return f"put `@{below}` above `{body.api}`"


def _kind_of_function(body: Body) -> Conflict | None:
    kind = body.applied.yields
    if kind == "async" and body.marker != "constant-result":
        what, why = f"`{called(body)}` is an async function", "torch.compile refuses the coroutine that it returns"
        return Conflict(what, why, "mark a function that computes and returns tensors, and await outside the region")
    if kind == "generator":
        what, why = f"`{called(body)}` is a generator function", "torch.compile refuses the generator that it returns"
        return Conflict(what, why, "return a list or tuple of tensors")
    if body.marker == "nonstrict" and body.applied.is_plain_class:
        what, why = f"`{called(body)}` is a class", "torch.compile refuses its instances as results"
        return Conflict(what, why, "mark a function or method, or register the class with `register_dataclass`")
    return None


def _forward(body: Body) -> Conflict | None:
    if body.marker not in _NOT_ON_FORWARD or not body.applied.is_called_by_module:
        return None
    what = f"`{called(body)}` is what calling the module runs"
    why = f"torch.compile does not know `{body.api}` there, and refuses"
    advice = f"mark a method of another name with `{body.api}`, and call that in `forward`"
    return Conflict(what, why, advice, uncalled_is_fine=True)


def _is_leaf_twin(body: Body) -> bool:
    """Whether the other marker of a pair that excludes one another tells."""
    return body.marker == "leaf" and _with_leaf(body) is not None


def _examine(body: Body) -> Iterator[Finding]:
    if not _is_leaf_twin(body):
        yield from examine(body)


def fixes(context: Context) -> Iterator[Fix]:
    """Reorder the decorators, or drop one."""
    from nonstrict.fixes.marks.decorators import reconcile
    from nonstrict.fixes.marks.forwards import mark_other_method

    yield from reconcile(context)
    yield from mark_other_method(context)


RULE = Rule(
    code="NST602",
    name="conflicting-decorators",
    severity=Severity.ERROR,
    summary="A marker on a function that it cannot mark, because of another decorator or of what the function is.",
    markers=frozenset({"nonstrict", "in-graph", "constant-result", "leaf"}),
    examine=_examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.IN_MARKERS),
)
