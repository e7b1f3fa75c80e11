"""A factory whose functions are now given what it was given: a parameter that nothing reads any more goes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.fixes.code.lists import arguments_of, parameters_of, without_element
from nonstrict.fixes.uses.calls import argument

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.fixes.uses.spots import Spot


def tidied(
    uses: Uses,
    document: Document,
    spot: Spot,
    changed: Collection[FunctionNode],
    edits: tuple[Edit, ...],
) -> tuple[Edit, ...]:
    """Some edits that give the `changed` functions a value, without the parameter of their factory that has it.

    The edits as they are where something else reads the parameter, or a comment would go.
    """
    factory = spot.scope
    if not isinstance(factory, ast.FunctionDef) or all(one.arg != spot.name for one in factory.args.args):
        return edits
    if isinstance(document.parent(factory), ast.ClassDef) and factory.args.args[0].arg == spot.name:
        return edits
    found = uses.of(document, factory)
    inner = {id(node) for function in changed for node in ast.walk(function)}
    read = any(id(node) not in inner for node in uses.scopes(document).text.reads(factory, spot.name))
    if read or found.obstacles or found.overrides or _is_written(document, factory, changed, spot.name, edits):
        return edits
    removals = list(_removals(uses, document, factory, spot.name))
    if any(one is None or "#" in _code(uses, one) for one in removals):
        return edits
    gone = [one for one in removals if one is not None]
    return (*(edit for edit in edits if not any(_is_inside(edit, one) for one in gone)), *gone)


def _is_written(
    document: Document, factory: ast.FunctionDef, changed: Collection[FunctionNode], name: str, edits: tuple[Edit, ...]
) -> bool:
    """Whether an edit of the factory, outside of the functions that it makes, writes the name of the parameter."""
    inner = [document.span(function) for function in changed]
    whole = document.span(factory)
    return any(
        edit.span.path == document.path
        and whole[1:3] <= edit.span[1:3] <= whole[3:]
        and not any(one[1:3] <= edit.span[1:3] <= one[3:] for one in inner)
        and re.search(rf"\b{name}\b", edit.text) is not None
        for edit in edits
    )


def _removals(uses: Uses, document: Document, factory: ast.FunctionDef, name: str) -> Iterator[Edit | None]:
    """The edits that take a parameter away, and what calls pass for it."""
    parameter = next(one for one in factory.args.args if one.arg == name)
    yield without_element(document, parameters_of(document, factory), document.bounds(parameter)[0])
    for call in uses.of(document, factory).calls:
        given = argument(factory, call, name)
        if given is not None:
            start = call.document.bounds(given)[0]
            yield without_element(call.document, arguments_of(call.document, call.node), start)


def _code(uses: Uses, edit: Edit) -> str:
    """What an edit takes away."""
    document = uses.documents.document(edit.span.path)
    if document is None:
        return ""
    start = document.offset(edit.span.line, edit.span.column)
    return document.code[start : document.offset(edit.span.end_line, edit.span.end_column)]


def _is_inside(inner: Edit, outer: Edit) -> bool:
    same = inner.span.path == outer.span.path
    return same and outer.span[1:3] <= inner.span[1:3] and inner.span[3:] <= outer.span[3:]
