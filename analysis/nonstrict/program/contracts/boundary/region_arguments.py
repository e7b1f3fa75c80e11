"""What regions pass to a marked function, as tracing them tells: through helpers, with conditions decided.

The text of a call tells what is written there. Tracing the region also tells what a helper returned, what a field was
given when the object was made, and which branch was taken. What only tracing tells is judged here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.contracts.boundary import boundary_values, making
from nonstrict.program.contracts.boundary.pytree_support import Boundary, elements, holds_generator
from nonstrict.program.contracts.regions import crossing
from nonstrict.program.discovery import callers
from nonstrict.program.domain.definitions import SeenCall
from nonstrict.program.domain.values import UNKNOWN, Kind, Value, join
from nonstrict.program.objects import dtypes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.discovery.sites import CallSite
    from nonstrict.program.domain.effects import Effect


def boundary_arguments(body: Interpreted, known: list[BoundaryArgument]) -> list[BoundaryArgument]:
    """The arguments that matter, beyond those that are `known` from the text of calls."""
    if body.mark.function is None or boundary_values.has_no_effect(body, body.mark.function):
        return []
    told = {(one.span, one.name) for one in known if _matters(one)}
    found: dict[tuple[object, str], BoundaryArgument] = {}
    judge = Boundary(body.machine, body.marker, body.torch)
    for region, call in crossing.calls(body.machine, body.mark, body.torch):
        site = _site(body, call.effect)
        if site is None:
            continue
        for name, value in _given(body, call.effect).items():
            span = site.argument_spans.get(name, site.span)
            if (span, name) in told or (span, name) in found or boundary_values.may_be_set_later(region, value):
                continue
            made = making.made(body.machine, region.mark.function, value)
            one = boundary_values.judged(body, judge, site, name, span, value, made=made)
            if _matters(one):
                found[span, name] = one
    return list(found.values())


def _matters(argument: BoundaryArgument) -> bool:
    """Whether torch refuses an argument, or the region makes it."""
    return argument.refused is not None or bool(argument.made) or holds_generator(argument.value)


def joined(body: Interpreted) -> dict[str, Value]:
    """For each parameter, what all regions pass."""
    found: dict[str, Value] = {}
    for _, call in crossing.calls(body.machine, body.mark, body.torch):
        for name, value in _given(body, call.effect).items():
            found[name] = join(found.get(name), value)
    return found


def completed(body: Interpreted, told: Mapping[str, Value]) -> dict[str, Value]:
    """For each parameter, what calls pass as their text tells, and what only tracing the regions tells of it."""
    found = dict(told)
    for name, value in joined(body).items():
        known = found.get(name, UNKNOWN)
        if known.kind is Kind.UNKNOWN or holds_unknown(known):
            found[name] = value
        elif known.is_tensor and value.is_tensor:
            found[name] = dtypes.like(known, value)
    return found


def holds_unknown(value: Value) -> bool:
    """Whether nothing is known of some element of a container."""
    return any(element.kind is Kind.UNKNOWN or holds_unknown(element) for element in elements(value))


def _given(body: Interpreted, call: Effect) -> Mapping[str, Value]:
    names = callers.parameter_names(body.mark)
    passed = call.value.const
    return {**dict(zip(names, passed.positional, strict=False)), **passed.keywords}


def _site(body: Interpreted, call: Effect) -> CallSite | None:
    """The call as rules see it; one that only tracing reaches is described anew. None for what is not a call."""
    for site in body.sites:
        if site.call is not None and site.call.node is call.node:
            return site
    if not isinstance(call.node, ast.Call):
        return None
    passed = call.value.const
    seen = SeenCall(call.node, call.path, call.offset, None, passed.positional, dict(passed.keywords))
    return callers.site(body.machine, body.mark, seen)
