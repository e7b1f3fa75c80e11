"""Pass a captured module whose mode decides together with its mode, which torch does not guard for an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.arguments import MODE, captured_by, named_passings
from nonstrict.fixes.captures.guarded import explained
from nonstrict.fixes.captures.passable import (
    MARKERS,
    depends_on_mode,
    is_accepted,
    is_written,
    may_be_none,
    subject_of,
)
from nonstrict.fixes.captures.switches import is_in_loop, switched
from nonstrict.fixes.code.edits import at_top_of_body
from nonstrict.fixes.uses.signatures import together
from nonstrict.fixes.uses.spots import origin, spot_of
from nonstrict.program.domain.values import BOOL, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.captures.arguments import Captured
    from nonstrict.fixes.context import Context


def pass_with_mode(context: Context) -> Iterator[Fix]:
    """Pass a module, and `module.training`."""
    seen = subject_of(context)
    if seen is None or context.body.marker not in MARKERS:
        return
    captured = captured_by(context, seen)
    if captured is None or captured.value.kind is not Kind.MODULE or not depends_on_mode(captured.value):
        return
    if is_written(context, seen.effect.place) or not is_accepted(context, captured.value):
        return
    if may_be_none(context, captured.value) or _is_switched_in_part(context, captured):
        return
    module = next(named_passings(context, captured), None)
    flag = next(named_passings(context, captured._replace(test=MODE, value=BOOL)), None)
    if module is None or flag is None:
        return
    name, function, edits = flag
    comment = None
    if not isinstance(function.node, ast.Lambda):
        comment = at_top_of_body(function.document, function.node, [explained(name, f"{module[0]}{MODE}")])
    text = captured.document.text(captured.node)
    edits = together((*module[2], *edits, *((comment,) if comment is not None else ())))
    yield Fix(f"Pass `{text}` and `{text}{MODE}` as arguments", Applicability.UNSAFE, edits)


def _is_switched_in_part(context: Context, captured: Captured) -> bool:
    """Whether the project sets the mode of a part of the module, or of what cannot be told."""
    uses = context.documents.uses
    whole = origin(uses, captured.spot)
    for document, receiver in switched(context):
        spot = spot_of(uses, document, receiver)
        known = origin(uses, spot) if spot is not None else whole
        longer = known[:3] == whole[:3] and len(known.steps) > len(whole.steps)
        if is_in_loop(document, receiver) or longer:
            return True
    return False
