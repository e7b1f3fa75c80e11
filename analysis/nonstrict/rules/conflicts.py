"""What torch refuses to mark: because of another decorator, or of what the function is (NST602)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.rules.captures import called

if TYPE_CHECKING:
    from nonstrict.findings import Span
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
    if not spans and not (target.mark is not None and target.mark.kind == other):
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
            what = f"`{api}` marks `{called(body)}`, a class method"
            why = "torch refuses the class as an input of a marked function"
            return Conflict(what, why, _instead(body, "classmethod"), applied.span, at_once=body.marker == "leaf")
    for applied in stack.below:
        if applied.name in _NOT_OVER.get(body.marker, ()):
            last = applied.name.rpartition(".")[2]
            what, why = f"`{api}` stands above `@{last}`, whose result is not a function", "torch refuses to mark it"
            return Conflict(what, why, _instead(body, last), applied.span, at_once=True)
    return None


def _instead(body: Body, below: str) -> str:
    if below == "classmethod":
        return "mark a static method or a function, and pass what it needs of the class"
    return f"put `@{below}` above `{body.api}`"


def _kind_of_function(body: Body) -> Conflict | None:
    kind, marks = body.applied.yields, f"`{body.api}` marks `{called(body)}`"
    if kind == "async" and body.marker != "constant-result":
        what, why = f"{marks}, an async function", "torch.compile refuses the coroutine that it returns"
        return Conflict(what, why, "mark a function that computes and returns tensors, and await outside the region")
    if kind == "generator":
        what, why = f"{marks}, a generator function", "torch.compile refuses the generator that it returns"
        return Conflict(what, why, "return a list or tuple of tensors")
    if body.marker == "nonstrict" and body.applied.is_plain_class:
        what, why = f"{marks}, a class", "torch.compile refuses its instances as results"
        return Conflict(what, why, "mark a function or method, or register the class with `register_dataclass`")
    return None


def _forward(body: Body) -> Conflict | None:
    if body.marker not in _NOT_ON_FORWARD or not body.applied.is_called_by_module:
        return None
    what = f"`{body.api}` marks `{called(body)}`, which a call of the module runs"
    why = "torch.compile refuses the marker on this method"
    advice = f"mark a method of another name with `{body.api}`, and call that in `forward`"
    return Conflict(what, why, advice, uncalled_is_fine=True)


def is_told_by_twin(body: Body) -> bool:
    """Whether the other marker of a pair that excludes one another tells of the conflict."""
    return body.marker == "leaf" and _with_leaf(body) is not None
