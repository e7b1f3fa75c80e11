"""The rounds of a loop that runs several regions with CUDA graphs become steps: results live as long (NST807).

Source: `torch/_inductor/cudagraph_trees.py` of torch 2.13 (`mark_step_begin`): once it was called, only the next such
call frees results, in whatever region.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.holding import Way
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import before
from nonstrict.fixes.code.names import spelled
from nonstrict.program.contracts.regions.capturing import Limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.regions.capturing import KeptResult

_MARK = "torch.compiler.cudagraph_mark_step_begin"
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def begun(context: Context) -> Iterator[Fix]:
    """`cudagraph_mark_step_begin()` where a round begins in which a result is used after another run."""
    kept = (one for one in context.body.cuda_graphs.kept if one.seen.effect.span == context.finding.span)
    one = next(kept, None)
    if one is None or not (one.limit is Limit.RUN or awaits_backward(one)) or one.way not in (Way.VARIABLE, Way.GIVEN):
        return
    document = context.documents.document(one.value.path)
    result = document.at(one.value, ast.expr) if document is not None else None
    if document is None or result is None:
        return
    loop = next((each for each in document.around(result) if isinstance(each, _LOOPS)), None)
    first = loop.body[0] if loop is not None else document.statement(result)
    if first is None or not _is_one_round(document, loop, one.value, [each.span for each in one.evidence]):
        return
    spelling = spelled(document, _MARK)
    edit = before(document, first, [f"{spelling.text}()"])
    if edit is not None and not spelling.edits:
        yield Fix("Begin a step here with `cudagraph_mark_step_begin()`", Applicability.UNSAFE, (edit,))


def awaits_backward(kept: KeptResult) -> bool:
    """Whether a region goes on with a result behind a backward pass: no copy saves what its own one still needs."""
    return kept.limit is Limit.BACKWARD and kept.way is Way.GIVEN


def _is_one_round(document: Document, loop: ast.stmt | None, value: Span, spans: list[Span]) -> bool:
    """Whether the other run, and what reads the result, come after it in the same round."""
    if not spans or any(span.path != value.path or _end(span) <= _end(value) for span in spans):
        return False
    around = document.span(loop) if loop is not None else None
    return around is None or all(_end(span) <= _end(around) for span in spans)


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column
