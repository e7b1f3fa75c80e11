"""A statement that needs only what the callers have moves in front of the call, up to where no compiler traces."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import with_comments_above
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.effects.removing import links, removal
from nonstrict.fixes.effects.standing import passes_only_values, standing
from nonstrict.fixes.uses.lifting import Lift, Work
from nonstrict.fixes.uses.terms import statement_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context


def move_call(context: Context) -> Iterator[Fix]:
    """Call it in front of each call of the function: `print("scores", scores.shape)`, `torch.set_num_threads(1)`."""
    document = context.document
    node = document.at(context.finding.span, ast.Call) if document is not None else None
    statement = document.statement(node) if document is not None and node is not None else None
    if document is None or node is None or statement is None:
        return
    places = standing(context, document, statement)
    if len(places) == 1 and places[0].called:
        # A helper that does nothing else moves as a whole.
        title = f"Move the call of `{places[0].called}` to the caller"
        yield from moved(context, places[0].document, places[0].statement, title)
        return
    if not places or not isinstance(statement, ast.Expr):
        return
    calls = list(links(statement.value))
    given = [part for call in calls for part in (*call.args, *(keyword.value for keyword in call.keywords))]
    if node in calls and all(is_pure(document, part) for part in given):
        title = f"Move the call of `{document.text(calls[0].func)}` to the caller"
        yield from moved(context, document, statement, title)


def move_condition(context: Context) -> Iterator[Fix]:
    """`if counter.tick(): print("ten")` moves as a whole, where evaluating the condition does something.

    Left behind, the condition would decide nothing.
    """
    seen = context.observed(Event.IO, Event.WRITE, Event.LEAK)
    span = seen.chain[0].span if seen is not None and seen.chain else context.finding.span
    document = context.documents.document(span.path)
    node = document.at(span, ast.Call) if document is not None else None
    statement = document.statement(node) if document is not None and node is not None else None
    if document is None or statement is None or node is None:
        return
    condition = statement if isinstance(statement, ast.If) else document.parent(statement)
    function = document.function(condition) if isinstance(condition, ast.If) else None
    if not isinstance(condition, ast.If) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    if condition.orelse or document.text(condition).startswith("elif") or is_pure(document, condition.test):
        return
    asked = [part for part in ast.walk(condition.test) if isinstance(part, ast.Call)]
    if not all(passes_only_values(document, call) for call in asked) or not _only_tells(context, document, condition):
        return
    if not _follows_effect(context, document, function, condition, Event.WRITE, Event.LEAK):
        yield from moved(context, document, condition, "Move the condition, and what it guards, to the caller")


def _only_tells(context: Context, document: Document, condition: ast.If) -> bool:
    """Whether all that a condition guards are calls that tell people something of values."""
    told = {seen.effect.span for seen in context.body.observed(Event.IO) if seen.effect.output and not seen.chain}
    return all(
        isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Call)
        and document.span(one.value) in told
        and passes_only_values(document, one.value)
        for one in condition.body
    )


def move_check(context: Context) -> Iterator[Fix]:
    """Check in front of each call of the function: `if scale < 0: raise ValueError("negative")`."""
    document = context.document
    statement = document.at(context.finding.span, ast.Raise) if document is not None else None
    check = document.parent(statement) if document is not None and statement is not None else None
    if document is None or not isinstance(check, ast.If) or check.orelse or check.body != [statement]:
        return
    if document.text(check).startswith("elif") or not is_pure(document, check.test):
        return
    yield from moved(context, document, check, "Move the check to the caller")


def moved(context: Context, document: Document, statement: ast.stmt, title: str) -> Iterator[Fix]:
    """Have all callers of the function around a statement do it first, if that is the same."""
    function = document.function(statement)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    taken_out = removal(document, statement)
    if (
        taken_out is None
        or _is_computed(function, statement)
        or _follows_effect(context, document, function, statement)
    ):
        return
    moved = Lift(context, context.documents.uses).edits(
        document, function, statement, Work(statement_text(document, statement))
    )
    if moved is not None:
        yield Fix(title, Applicability.UNSAFE, (with_comments_above(document, statement, taken_out), *moved))


def _follows_effect(
    context: Context,
    document: Document,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    statement: ast.stmt,
    *others: Event,
) -> bool:
    """Whether something else is told before a statement, also by what is called, which would come after it then.

    Effects of `others` count too.
    """
    start, end = document.span(function)[1:3], document.span(statement)[1:3]
    told = context.body.observed(Event.IO, *others)
    spans = (span for seen in told for span in (seen.effect.span, *(edge.span for edge in seen.chain)))
    return any(span.path == document.path and start < span[1:3] < end for span in spans)


def _is_computed(function: ast.FunctionDef | ast.AsyncFunctionDef, statement: ast.stmt) -> bool:
    """Whether anything before a statement may change what it tells: in-place operators on what the function got."""
    if statement not in function.body:
        return True
    earlier = function.body[: function.body.index(statement)]
    return any(
        isinstance(part, (ast.AugAssign, ast.Delete))
        or (isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store))
        or (isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr.endswith("_"))
        for one in earlier
        for part in ast.walk(one)
    )
