"""A module that was marked itself: mark a function that takes the module as an argument, which its callers pass."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.passable import depends_on_mode
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.lists import arguments_of, with_element
from nonstrict.fixes.uses.spots import chain, is_constant, root_of, spelled, spot_of, steps_text
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context


def pass_module(context: Context) -> Iterator[Fix]:
    """`nonstrict_trace(module)` becomes `nonstrict_trace(lambda module, ...: module(...))`, and is given the module."""
    body, document = context.body, context.document
    receiver = body.receiver
    if receiver is None or receiver.kind is not Kind.MODULE or depends_on_mode(receiver) or body.marker != "nonstrict":
        return
    marker = document.at(context.finding.span, ast.Call) if document is not None else None
    if document is None or marker is None or len(marker.args) != 1 or marker.keywords:
        return
    edits = _edits(context, document, marker)
    if edits is not None:
        title = f"Pass `{document.text(_module(marker.args[0]))}` as an argument"
        yield Fix(title, Applicability.UNSAFE, edits)


def _module(node: ast.expr) -> ast.expr:
    """The module of `module.forward`."""
    return node.value if isinstance(node, ast.Attribute) and node.attr == "forward" else node


def _edits(context: Context, document: Document, marker: ast.Call) -> tuple[Edit, ...] | None:
    uses = context.documents.uses
    marked = marker.args[0]
    module = _module(marked)
    spot, root = spot_of(uses, document, module), root_of(module)
    found = uses.of(document, marker)
    if (
        spot is None
        or root is None
        or not chain(module)
        or not is_constant(spot)
        or found.obstacles
        or found.overrides
        or not found.calls
    ):
        return None
    called = "module.forward" if module is not marked else "module"
    edits = [replaced(document, marked, f"lambda module, *arguments: {called}(*arguments)")]
    suffix = steps_text(document, module, len(spot.steps))
    for call in found.calls:
        known = spelled(uses, call.document, call.node, spot, suffix)
        if known is None or call.node.keywords:
            return None
        edits += known.edits
        edits.append(with_element(call.document, arguments_of(call.document, call.node), known.text, 0))
    return tuple(edits)
