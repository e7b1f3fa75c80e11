"""A copy of what a region with CUDA graphs returns, which no run of theirs writes over (NST807)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.marks.steps import awaits_backward
from nonstrict.program.domain.values import CONTAINERS, PRIMITIVES, TENSORS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context


#: Expressions that a method can be called on as they are.
_PRIMARY = (ast.Call, ast.Name, ast.Attribute, ast.Subscript)
#: What is surely no tensor.
_OTHERS = PRIMITIVES | CONTAINERS | {Kind.TUPLE, Kind.OBJECT}


def cloned(context: Context) -> Iterator[Fix]:
    """`region(x).clone()` where a result is kept; unsafe where it is not known to be one tensor."""
    kept = (one for one in context.body.cuda_graphs.kept if one.seen.effect.span == context.finding.span)
    one = next(kept, None)
    if one is not None and awaits_backward(one):
        return
    document = context.documents.document(one.value.path) if one is not None else None
    node = document.at(one.value, *_PRIMARY) if document is not None and one is not None else None
    around = document.parent(node) if document is not None and node is not None else None
    if document is None or node is None or isinstance(around, ast.Await):
        return
    returned = context.body.summary.returns if context.body.mark.function is not None else None
    kinds = {value.kind for value in returned.alternatives()} if returned is not None else set[Kind]()
    whole = isinstance(node, ast.Call)
    if whole and (kinds & _OTHERS or _is_unpacked(around)):
        return
    sure = Applicability.SAFE if kinds and kinds <= TENSORS else Applicability.UNSAFE
    yield Fix("Keep a copy with `.clone()`", sure, (replaced(document, node, f"{document.text(node)}.clone()"),))


def _is_unpacked(around: ast.AST | None) -> bool:
    """Whether a result is taken apart where it is bound."""
    return isinstance(around, ast.Assign) and any(isinstance(one, (ast.Tuple, ast.List)) for one in around.targets)
