"""A copy of what a region with CUDA graphs returns, which no run of theirs writes over (NST807)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.marked_body import MarkedBody


def cloned(context: Context) -> Iterator[Fix]:
    """`region(x).clone()` where a result is kept; unsafe where it is not known to be one tensor."""
    kept = (one for one in context.body.cuda_graphs.kept if one.seen.effect.span == context.finding.span)
    one = next(kept, None)
    document = context.documents.document(one.result.path) if one is not None else None
    node = document.at(one.result, ast.Call) if document is not None and one is not None else None
    if document is None or node is None or isinstance(document.parent(node), ast.Await):
        return
    sure = Applicability.SAFE if _gives_tensor(context.body) else Applicability.UNSAFE
    yield Fix("Keep a copy with `.clone()`", sure, (replaced(document, node, f"{document.text(node)}.clone()"),))


def _gives_tensor(body: MarkedBody) -> bool:
    """Whether a region surely returns a tensor."""
    if body.mark.function is None:
        return False
    returned = body.summary.returns
    return returned is not None and all(one.is_tensor for one in returned.alternatives())
