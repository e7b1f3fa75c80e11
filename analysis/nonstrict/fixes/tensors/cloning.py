"""A copy of what a region with CUDA graphs returns, which no run of theirs writes over (NST807)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.marks.steps import awaits_backward
from nonstrict.program.domain.values import HOLDERS, PRIMITIVES, TENSORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context


#: Expressions that a method can be called on as they are.
_PRIMARY = (ast.Call, ast.Name, ast.Attribute, ast.Subscript)
#: What is surely no tensor.
_OTHERS = PRIMITIVES | HOLDERS


def cloned(context: Context) -> Iterator[Fix]:
    """`region(x).clone()` where a result is kept, if that is one tensor; unsafe where that is not known."""
    kept = (one for one in context.body.cuda_graphs.kept if one.seen.effect.span == context.finding.span)
    one = next(kept, None)
    if one is None or awaits_backward(one) or not one.is_value or one.kinds & _OTHERS:
        return
    document = context.documents.document(one.value.path)
    node = document.at(one.value, *_PRIMARY) if document is not None else None
    if document is None or node is None or isinstance(document.parent(node), ast.Await):
        return
    sure = Applicability.SAFE if one.kinds <= TENSORS else Applicability.UNSAFE
    yield Fix("Keep a copy with `.clone()`", sure, (replaced(document, node, f"{document.text(node)}.clone()"),))
