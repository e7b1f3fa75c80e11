"""Numbers that a region is given, handed over as tensors: those vary without another compilation (NST803, NST804)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.marks.staying import recompilation
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Edit
    from nonstrict.fixes.context import Context
    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.access_paths import AccessPath

_NUMBERS = frozenset({"int", "float"})
_TENSOR = "torch.tensor"


def passed(context: Context) -> Iterator[Fix]:
    """`torch.tensor(rate)` in all calls of a region that does nothing but compute with it, beside tensors."""
    found, function = recompilation(context), context.body.mark.function
    if found is None or function is None or found.place.root is not Root.ARGUMENT or found.place.path:
        return
    if not found.kinds <= _NUMBERS or not _is_computed_with(context, found.place):
        return
    calls = list(callers.passings(context.machine, function, found.place.name))
    seen = {call[1] for call in callers.calls_of_function(context.machine, function)}
    edits = [edit for one in {call.node: call for call in calls}.values() for edit in _given(context, one)]
    if edits and seen == {call.node for call in calls} and len(edits) >= len(seen):
        unique = tuple(dict.fromkeys(edits))
        yield Fix(f"Pass `{found.place.name}` as a tensor", Applicability.UNSAFE, unique)


def _is_computed_with(context: Context, place: AccessPath) -> bool:
    uses = {seen.effect.how for seen in context.body.observed(Event.GUARD) if seen.effect.place == place}
    return uses == {Use.ARITHMETIC}


def _given(context: Context, call: Passing) -> Iterator[Edit]:
    """The edits that make a tensor of what one call passes; none where that is not known to be a number."""
    document = context.documents.document(call.frame.module.path)
    if document is None or call.expression is None or call.value.kind is not Kind.NUMBER:
        return
    span = span_of(call.frame.module.path, call.frame.offset, call.expression)
    node = document.at(span, ast.expr)
    spelling = spelled(document, _TENSOR)
    if node is not None:
        yield replaced(document, node, f"{spelling.text}({document.text(node)})")
        yield from spelling.edits
