"""Pass in every call what is captured as the default of a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.captures.passable import MARKERS, is_accepted, may_be_none, subject_of
from nonstrict.fixes.code.edits import with_argument
from nonstrict.fixes.uses import traced
from nonstrict.fixes.uses.calls import argument
from nonstrict.fixes.uses.spots import spelled, spot_of, steps_text
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.objects import parameters

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context


def pass_default(context: Context) -> Iterator[Fix]:
    """Make a parameter whose default is a captured tensor or module one that every call passes."""
    seen = subject_of(context)
    if seen is None or context.body.marker not in MARKERS or seen.effect.place.root is not Root.DEFAULT:
        return
    function = context.body.mark.function
    found = context.definition(function) if function is not None and not seen.effect.place.path else None
    if found is None or not is_accepted(context, seen.effect.value) or may_be_none(context, seen.effect.value):
        return
    document, node = found
    name = seen.effect.place.name
    edits = _edits(context, document, node, name)
    if edits is not None:
        yield Fix(f"Pass `{name}` in every call", Applicability.UNSAFE, edits)


def _edits(context: Context, document: Document, function: FunctionNode, name: str) -> tuple[Edit, ...] | None:
    uses = context.documents.uses
    found = uses.of(document, function)
    default = parameters.default_nodes(function.args).get(name)
    spot = spot_of(uses, document, default) if default is not None else None
    if default is None or spot is None or found.obstacles or found.overrides or not found.calls:
        return None
    bodies = traced.in_bodies(context)
    edits: list[Edit] = []
    suffix = steps_text(document, default, len(spot.steps))
    for call in found.calls:
        if argument(function, call, name) is not None:
            continue
        inside = any(call.document.span(one) in bodies for one in uses.scopes(call.document).text.functions(call.node))
        written = spelled(uses, call.document, call.node, spot, suffix)
        if inside or written is None:
            return None
        edits += (*written.edits, with_argument(call.document, call.node, f"{name}={written.text}"))
    return (*edits, *_without_default(document, function, name, default)) if edits else None


def _without_default(document: Document, function: FunctionNode, name: str, default: ast.expr) -> Iterator[Edit]:
    """The edit that takes a default away, where the parameters behind it do not need it."""
    ordered = [*function.args.posonlyargs, *function.args.args]
    keyword_only = any(one.arg == name for one in function.args.kwonlyargs)
    first = ordered[len(ordered) - len(function.args.defaults)] if function.args.defaults else None
    if keyword_only or (first is not None and first.arg == name):
        parameter = next(one for one in (*ordered, *function.args.kwonlyargs) if one.arg == name)
        yield Edit(document.range(document.bounds(parameter)[1], document.bounds(default)[1]), "")
