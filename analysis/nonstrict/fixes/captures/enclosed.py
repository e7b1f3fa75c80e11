"""A marked function that is made anew for each value, by a factory or an instance, gets the value as an argument.

All functions that one `def` or `lambda` makes share the marker's code, so that Dynamo runs the graph of the first one
for all of them. What differs between them is what they capture: passed by the region, it is guarded, or an input of
the graph (measured on torch 2.13.0 for numbers, texts and tensors).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.scopes import scope_of
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.captures.arguments import Captured, passings
from nonstrict.fixes.captures.passable import MARKERS, is_accepted, is_written, may_be_none
from nonstrict.fixes.uses.spots import spot_of
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.values import Value


def pass_enclosed(context: Context) -> Iterator[Fix]:
    """Pass every variable of the functions around that a marked function reads."""
    function = context.body.mark.function
    found = context.definition(function) if function is not None else None
    if found is None or context.body.marker not in MARKERS or not isinstance(found[1], ast.FunctionDef):
        return
    document, node = found
    values = captured_values(context, document, node)
    if not values or any("." in name for name in values):
        return
    edits: list[Edit] = []
    for name, value in values.items():
        read = next(one for one in _reads(document, node) if one.id == name)
        spot = spot_of(context.documents.uses, document, read)
        passing = next(passings(context, Captured(document, read, spot, value)), None) if spot is not None else None
        if passing is None:
            return
        edits += passing
    text = ", ".join(f"`{name}`" for name in values)
    argument = "an argument" if len(values) == 1 else "arguments"
    yield Fix(f"Pass {text} as {argument}", Applicability.UNSAFE, _merged(edits))


def captured_values(context: Context, document: Document, node: FunctionNode) -> dict[str, Value] | None:
    """The variables of functions around that a function reads, and the attributes of one (`self.scale`), with values.

    None if one cannot be passed.
    """
    values: dict[str, Value] = {}
    for seen in context.body.observed(Event.READ):
        place = seen.effect.place
        if place.seen_as is not Root.CELL:
            continue
        if len(place.path) > 1 or not all(step.startswith(".") for step in place.path) or is_written(context, place):
            return None
        name = place.name + "".join(place.path)
        values[name] = join(values.get(name), seen.effect.value)
    names = dict.fromkeys(document.text(_whole(document, read)) for read in _reads(document, node))
    if set(names) != set(values):
        return None
    passable = all(is_accepted(context, one) and not may_be_none(context, one) for one in values.values())
    return {name: values[name] for name in names} if passable else None


def _whole(document: Document, read: ast.Name) -> ast.expr:
    """A variable that is read, or its attribute."""
    outer = document.parent(read)
    return outer if isinstance(outer, ast.Attribute) else read


def _reads(document: Document, node: FunctionNode) -> list[ast.Name]:
    """Where a function reads variables of the functions around it."""
    around = [one for one in document.around(node) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    outer = {name for one in around for name in scope_of(one).local} - scope_of(node).local
    body = node.body if isinstance(node.body, list) else [node.body]
    inner = (one for part in body for one in ast.walk(part))
    reads = [one for one in inner if isinstance(one, ast.Name) and one.id in outer]
    return sorted(reads, key=document.bounds)


def _merged(edits: list[Edit]) -> tuple[Edit, ...]:
    """Insertions at one place as one edit, in their order."""
    found: dict[object, Edit] = {}
    for edit in dict.fromkeys(edits):
        known = found.get(edit.span)
        found[edit.span] = edit if known is None else Edit(edit.span, known.text + edit.text)
    return tuple(found.values())
