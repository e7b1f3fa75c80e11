"""A tensor that a region with CUDA graphs changes in place is told to stay where it is (NST808).

Source: `torch/_dynamo/decorators.py` of torch 2.13 (`mark_static_address`): CUDA graphs take the address for a constant
then, and changes in place are captured.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.use_def import use_def
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import after
from nonstrict.fixes.code.names import spelled
from nonstrict.program.contracts.regions import calls
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.access_paths import AccessPath

_MARK = "torch._dynamo.mark_static_address"
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def marked(context: Context) -> Iterator[Fix]:
    """`torch._dynamo.mark_static_address(cache)` behind what binds the tensor that is changed, once."""
    changed = context.body.cuda_graphs.changed
    seen = next((seen for seen in changed if seen.effect.span == context.finding.span), None)
    if seen is None or seen.effect.place.path:
        return
    found = _binding(context, seen.effect.place)
    document = context.documents.document(found[0].path) if found is not None else None
    if found is None or document is None:
        return
    value, name = document.at(found[0], ast.expr), found[1]
    statement = document.statement(value) if value is not None else None
    if not isinstance(statement, ast.Assign) or statement.value is not value or len(statement.targets) > 1:
        return
    if not isinstance(statement.targets[0], ast.Name) or any(
        isinstance(one, _LOOPS) for one in document.around(statement)
    ):
        return
    spelling = spelled(document, _MARK)
    edit = after(document, statement, [f"{spelling.text}({name})"])
    if edit is not None and not spelling.edits:
        yield Fix(f"Mark `{name}` with `mark_static_address`", Applicability.UNSAFE, (edit,))


def _binding(context: Context, place: AccessPath) -> tuple[Span, str] | None:
    """The expression that the changed variable is bound to, and its name there; None if there may be several."""
    region = context.body
    if place.root is Root.GLOBAL:
        module = context.machine.project.module(place.file)
        only = use_def(module.outline.shell).only(place.name) if module is not None else None
        if module is None or only is None or only.value is None:
            return None
        return span_of(module.path, 0, only.value), place.name
    given = list(calls.given(region, region.parameter_at(place))) if place.root is Root.ARGUMENT else []
    found = set[tuple["Span", str]]()
    for frame, _, passed in given:
        only = use_def(naming.text_of(frame)).only(passed.id) if isinstance(passed, ast.Name) else None
        if only is None or only.value is None or only.part is not None or not isinstance(passed, ast.Name):
            return None
        found.add((span_of(frame.module.path, frame.offset, only.value), passed.id))
    return found.pop() if len(found) == 1 else None
