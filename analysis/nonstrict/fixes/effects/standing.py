"""Where a statement can go: a helper that does nothing else is not left empty, its calls in traced code go instead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.fixes.code.names import meaning
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.uses.traced import compiled, in_bodies, in_regions, marked
from nonstrict.models.library import SHIPPED

if TYPE_CHECKING:
    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAX_LEVELS = 4


class Standing(NamedTuple):
    """A statement in a file; `called` is the helper that it calls, as it is written, if it stands for all of that."""

    document: Document
    statement: ast.stmt
    called: str = ""


def standing(context: Context, document: Document, statement: ast.stmt, *, together: bool = True) -> list[Standing]:
    """The statements to take out for one: itself, or the calls of its function in traced code if that is all of it.

    `together`, a helper that does several things of that kind, and nothing else, is not taken apart.

    Conditions that only compute and then guard nothing are taken out whole. Empty where a call is more than a
    statement, where a block of another kind would be empty, or where the calls cannot be told; also for functions with
    a marker and compiled ones, as it is not told who calls these.
    """
    known = _together(context, document, statement) if together else {statement: Standing(document, statement)}
    for _ in range(_MAX_LEVELS):
        known = _widened(known)
        emptied = next((one for one in known.values() if _is_in_empty_function(one, known)), None)
        if emptied is None:
            return [] if _empties_block(known) else list(known.values())
        function = emptied.document.function(emptied.statement)
        calls = _calls(context, emptied.document, function) if isinstance(function, _DEFINITION) else []
        if not calls:
            return []
        known = {node: one for node, one in known.items() if one.document.function(node) is not function}
        known.update((one.statement, one) for one in calls)
    return []


def _together(context: Context, document: Document, statement: ast.stmt) -> dict[ast.stmt, Standing]:
    """A statement, with the others of its helper that have the same kind of effect, if these are all of the helper."""
    alone = {statement: Standing(document, statement)}
    function = document.function(statement)
    seen = context.observed(*_KINDS)
    if seen is None or not isinstance(function, _DEFINITION) or document.span(function) in marked(context):
        return alone
    spans = {one.effect.span for one in context.body.observed(seen.effect.event)}
    statements = (one for span in spans if (one := _doing(document, span)) is not None)
    same = {one: Standing(document, one) for one in statements}
    known = alone | {node: one for node, one in same.items() if document.function(node) is function}
    emptied = any(_is_in_empty_function(one, widened) for widened in [_widened(known)] for one in widened.values())
    return known if emptied else alone


def _doing(document: Document, span: Span) -> ast.stmt | None:
    """The statement that does nothing but the effect at a span: a call, or a store of what only computes."""
    node = document.at(span, ast.expr, ast.stmt)
    statement = document.statement(node) if node is not None else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        whole = node in (statement, statement.value)
        return statement if whole and passes_only_values(document, statement.value) else None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        plain = len(targets) == 1 and (node is statement or node is targets[0])
        return statement if plain and is_pure(document, statement.value) else None
    return None


#: What the statements of a helper have in common that only tells, or sets, something.
_KINDS = (Event.IO, Event.TORCH_STATE, Event.WRITE, Event.LEAK, Event.BREAK)


def _widened(known: dict[ast.stmt, Standing]) -> dict[ast.stmt, Standing]:
    """Statements, with conditions that only compute in place of all that they guard."""
    for one in known.values():
        holder = guard(one.document, one.statement)
        if holder is not None and _is_gone(holder.body, known):
            rest = {node: other for node, other in known.items() if node not in holder.body}
            return _widened({**rest, holder: one._replace(statement=holder)})
    return known


def guard(document: Document, statement: ast.stmt) -> ast.If | ast.For | ast.With | None:
    """What is around a statement and has no use once it is around nothing: a condition that only computes, a loop."""
    holder = document.parent(statement)
    if isinstance(holder, ast.If) and not holder.orelse and not document.text(holder).startswith("elif"):
        return holder if is_pure(document, holder.test) else None
    if isinstance(holder, ast.For) and not holder.orelse and _only_counts(document, holder):
        return holder
    if isinstance(holder, ast.With) and all(_only_surrounds(document, item) for item in holder.items):
        return holder
    return None


def _only_surrounds(document: Document, item: ast.withitem) -> bool:
    call = item.context_expr
    if item.optional_vars is not None or not isinstance(call, ast.Call):
        return False
    return SHIPPED.only_surrounds(meaning(document)(call.func)) and passes_only_values(document, call)


def _only_counts(document: Document, loop: ast.For) -> bool:
    """Whether a loop runs over numbers or values that are written there, and nothing behind it reads where it ended."""
    numbers = isinstance(loop.iter, ast.Call) and meaning(document)(loop.iter.func) == "builtins.range"
    if not (numbers or isinstance(loop.iter, (ast.Tuple, ast.List))) or not is_pure(document, loop.iter):
        return False
    if not isinstance(loop.target, ast.Name):
        return False
    inner = {part for part in ast.walk(loop) if isinstance(part, ast.Name)}
    around = document.function(loop) or document.tree
    named = (part for part in ast.walk(around) if isinstance(part, ast.Name) and part.id == loop.target.id)
    return all(part in inner or not isinstance(part.ctx, ast.Load) for part in named)


def _is_in_empty_function(one: Standing, known: dict[ast.stmt, Standing]) -> bool:
    """Whether the function around does nothing but what is taken out."""
    function = one.document.function(one.statement)
    return isinstance(function, _DEFINITION) and one.statement in function.body and _is_gone(function.body, known)


def _empties_block(known: dict[ast.stmt, Standing]) -> bool:
    """Whether several statements are all of one block; a single one leaves `pass`."""
    blocks = [one.document.block(one.statement) for one in known.values()]
    return any(len(block) > 1 and all(one in known for one in block) for block in blocks)


def _is_gone(block: list[ast.stmt], known: dict[ast.stmt, Standing]) -> bool:
    return all(one in known or _is_idle(one) for one in block)


def _calls(context: Context, document: Document, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Standing]:
    """The calls of a function in traced code; none if one of them is more than a statement, or cannot be told."""
    here = document.span(function)
    known = context.documents.uses.of(document, function)
    if here in marked(context) or here in compiled(context) or known.obstacles or known.overrides:
        return []
    traced = in_bodies(context) | in_regions(context)
    found: list[Standing] = []
    for call in known.calls:
        if not _is_traced(call.document, call.node, traced):
            continue
        statement = call.document.parent(call.node)
        if not isinstance(statement, ast.Expr) or not passes_only_values(call.document, call.node):
            return []
        found.append(Standing(call.document, statement, call.document.text(call.node.func)))
    return found


def _is_traced(document: Document, node: ast.AST, traced: frozenset[Span]) -> bool:
    function = document.function(node)
    return function is not None and document.span(function) in traced


def passes_only_values(document: Document, call: ast.Call) -> bool:
    """Whether computing what a call is given, and what is called, has no effect."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return all(is_pure(document, one) for one in given) and is_pure(document, call.func)


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement does nothing: `pass`, a docstring, a bare `return`."""
    if isinstance(statement, ast.Return):
        return statement.value is None or (isinstance(statement.value, ast.Constant) and statement.value.value is None)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
