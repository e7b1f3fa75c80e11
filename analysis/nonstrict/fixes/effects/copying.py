"""An argument that a function changes is copied first: the function goes on working on its own copy."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Event
from nonstrict.facts.scopes import scope_of
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import at_top_of_body
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.context import Context
from nonstrict.fixes.effects.returning import return_value
from nonstrict.fixes.uses.afterwards import is_used_afterwards
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.definitions import Class
from nonstrict.program.domain.values import CONTAINERS, Kind
from nonstrict.program.objects.classes import is_dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.values import Value


def copy_first(context: Context) -> Iterator[Fix]:
    """`items = items.copy()` at the top, for a container or dataclass that is given as an argument.

    Only where the function uses more of it than what it changes, its kind is known, no caller goes on using it, and no
    other change of it moves to the callers.
    """
    seen, function = context.observed(Event.WRITE, Event.LEAK), context.body.mark.function
    if seen is None or function is None:
        return
    place = seen.effect.place
    known = context.definition(function)
    if place.root is not Root.ARGUMENT or known is None or isinstance(known[1], ast.Lambda):
        return
    document, node = known[0], known[1]
    parameters = {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    scope = scope_of(node)
    if place.name not in parameters or place.name in scope.nonlocal_names or not _is_used(node, place.name):
        return
    value = context.body.arguments.get(place.name)
    steps = len(place.path) - (seen.effect.how is Change.ATTRIBUTE or _stores_entry(seen.effect))
    if value is None or steps > 0:
        return
    if all(one.kind in CONTAINERS for one in value.alternatives()):
        text, edits = f"{place.name}.copy()", ()
    elif all(map(_is_of_dataclass, value.alternatives())):
        text, edits = spelled(document, "dataclasses.replace")
        text = f"{text}({place.name})"
    else:
        return
    if is_used_afterwards(context.documents.uses, document, node, place.name) or _moves(context, place):
        return
    edit = at_top_of_body(document, node, [f"{place.name} = {text}"])
    if edit is not None:
        yield Fix(f"Copy `{place.name}` first", Applicability.UNSAFE, (edit, *edits))


def _is_of_dataclass(value: Value) -> bool:
    return value.kind is Kind.OBJECT and isinstance(value.ref, Class) and is_dataclass(value.ref)


def _moves(context: Context, place: AccessPath) -> bool:
    """Whether another change of an argument becomes a result: the callers store that in the object they have."""
    others = context.body.observed(Event.WRITE, Event.LEAK)
    spans = {seen.effect.span for seen in others if seen.effect.place[:3] == place[:3]} - {context.finding.span}
    found = (context.finding._replace(span=span, cause=None) for span in spans)
    return any(any(return_value(Context(context.documents, context.body, one))) for one in found)


def _stores_entry(effect: Effect) -> bool:
    path = effect.place.path
    return effect.how is Change.ITEM and bool(path) and path[-1].startswith("[")


def _is_used(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether anything but changes of a parameter is done with it: else a copy of it would be of no use."""
    loads = 0
    for statement in node.body:
        for part in ast.walk(statement):
            loads += isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
    return loads > 1
