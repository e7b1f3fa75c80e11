"""Caches that would keep a traced tensor: what they hold is computed each time instead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from nonstrict.events import Change, Event
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.effects.removing import removal
from nonstrict.fixes.uses.terms import free_name, root
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import reachable, span_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_MANAGING = ("cache_clear", "cache_info", "cache_parameters")
#: What a cached function may do without becoming a finding of its own once it is called each time.
_HARMLESS = frozenset({Event.SHAPE, Event.UNSEEN, Event.HELPER, Event.CALLED})


def drop_cache(context: Context) -> Iterator[Fix]:
    """Take `functools.lru_cache` off a function, where nothing asks for the cache itself."""
    document, seen = context.document, context.observed(Event.LEAK)
    if document is None or seen is None or seen.effect.how is not Change.CACHE:
        return
    decorator = document.at(context.finding.span, ast.expr)
    function = document.parent(decorator) if decorator is not None else None
    if decorator is None or not isinstance(function, ast.FunctionDef) or decorator not in function.decorator_list:
        return
    asked = any(node.attr in _MANAGING for node in document.of(ast.Attribute))
    if asked or _does_more(context):
        return
    start, end = document.offset(decorator.lineno, 0), document.bounds(decorator)[1]
    line_end = document.code.find("\n", end)
    before = document.code[start : document.bounds(decorator)[0]].strip()
    rest = document.code[end:line_end].strip()
    if line_end < 0 or before != "@" or (rest and not rest.startswith("#")):
        return
    name = document.text(decorator.func if isinstance(decorator, ast.Call) else decorator)
    edit = Edit(document.range(start, line_end + 1), "")
    yield Fix(f"Remove `{name}`", Applicability.UNSAFE, (edit,))


def _does_more(context: Context) -> bool:
    """Whether a cached function does more than to compute: now it would do so each time."""
    for reached in reachable(context.body.summary):
        definition = reached.summary.definition
        if definition is None or definition.cached_at is None:
            continue
        if span_of(definition.module.path, definition.offset, definition.cached_at) == context.finding.span:
            effects = [effect for inner in reachable(reached.summary) for effect in inner.summary.effects.values()]
            return any(effect.event not in _HARMLESS and effect.how is not Change.CACHE for effect in effects)
    return False


def compute_each_time(context: Context) -> Iterator[Fix]:
    """A value that is built when it is first needed becomes a local variable, built each time.

    `if self.cos is None: self.cos = ...` becomes `cos = ...`, where nothing else uses `self.cos`.
    """
    document, seen = context.document, context.observed(Event.LEAK, Event.WRITE)
    target = document.at(context.finding.span, ast.Attribute, ast.Name) if document is not None else None
    if document is None or seen is None or target is None or not seen.effect.lazy:
        return
    statement, function = document.statement(target), document.function(target)
    test = document.parent(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or statement.targets != [target] or function is None:
        return
    if not isinstance(test, ast.If) or test.orelse or test.body != [statement] or not is_pure(document, test.test):
        return
    places = _places(document, function, target)
    used = len(places) > len(_places_in(test, target))
    if not used or not all(_uses_itself(part, target) for part in _operands(test.test)):
        return  # nothing takes the value, or it is built for another reason
    if test not in getattr(function, "body", []) or document.text(test).startswith("elif"):
        return
    if not _is_alone(context, document, function, target):
        return
    name = free_name(function, _name(target).strip("_") or "value")
    value = document.text(statement.value)
    if "\n" in value or _uses_itself(statement.value, target):
        return
    inside = {id(node) for node in ast.walk(test)}
    edits = [replaced(document, place, name) for place in places if id(place) not in inside]
    start, end = document.bounds(test)[0], document.bounds(test)[1]
    edits.append(Edit(document.range(start, end), f"{name} = {value}"))
    edits += _undeclared(document, function, target)
    yield Fix(f"Compute `{document.text(target)}` each time", Applicability.UNSAFE, tuple(edits))


def drop_store(context: Context) -> Iterator[Fix]:
    """Take the assignment to an attribute out that nothing reads."""
    document, seen = context.document, context.observed(Event.LEAK)
    target = document.at(context.finding.span, ast.Attribute) if document is not None else None
    if document is None or seen is None or target is None or seen.effect.how is not Change.ATTRIBUTE:
        return
    statement = document.statement(target)
    if not isinstance(statement, ast.Assign) or statement.targets != [target] or not is_pure(document, statement.value):
        return
    if _reads(context, target.attr) != []:
        return
    edit = removal(document, statement)
    if edit is not None:
        yield Fix(f"Remove the assignment to `{document.text(target)}`", Applicability.UNSAFE, (edit,))


def _name(target: ast.Attribute | ast.Name) -> str:
    return target.attr if isinstance(target, ast.Attribute) else target.id


def _places(document: Document, function: FunctionNode, target: ast.expr) -> list[ast.expr]:
    """Where a function uses the place that it fills."""
    return [node for node in own_scope(function) if _is_place(node, ast.unparse(target))]


def _places_in(part: ast.AST, target: ast.expr) -> list[ast.expr]:
    return [node for node in ast.walk(part) if _is_place(node, ast.unparse(target))]


def _is_place(node: ast.AST, text: str) -> TypeGuard[ast.expr]:
    return isinstance(node, (ast.Attribute, ast.Name)) and ast.unparse(node) == text


def _operands(test: ast.expr) -> list[ast.expr]:
    """What a test asks: the operands of `or` and `and`."""
    return test.values if isinstance(test, ast.BoolOp) else [test]


def _is_alone(context: Context, document: Document, function: FunctionNode, target: ast.Attribute | ast.Name) -> bool:
    """Whether nothing but the function reads what it fills, other than to empty it."""
    inside = {id(node) for node in ast.walk(function)}
    if isinstance(target, ast.Attribute):
        base = root(target)
        first = function.args.args[0].arg if function.args.args else ""
        if base is None or base.id != first or not isinstance(target.value, ast.Name):
            return False
        reads = _reads(context, target.attr)
        return reads is not None and all(one is document and id(node) in inside for one, node in reads)
    seen = context.observed(Event.LEAK, Event.WRITE)
    holding = context.documents.uses.holding(target.id)
    if seen is None or seen.effect.place.seen_as is not Root.GLOBAL or holding is None:
        return False
    named = (
        (one, node)
        for one in holding
        for node in one.nodes
        if (isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Attribute) and node.attr == target.id)
        or (isinstance(node, ast.alias) and node.name == target.id)
    )
    return all(one is document and id(node) in inside for one, node in named)


def _reads(context: Context, attribute: str) -> list[tuple[Document, ast.AST]] | None:
    """Where anything reads an attribute of this name, or mentions it as text; None if that cannot be told."""
    holding = context.documents.uses.holding(attribute)
    if holding is None:
        return None
    return [
        (document, node)
        for document in holding
        for node in document.nodes
        if (isinstance(node, ast.Attribute) and node.attr == attribute and not isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Constant) and node.value == attribute)
    ]


def _uses_itself(value: ast.expr, target: ast.expr) -> bool:
    return bool(_places_in(value, target))


def _undeclared(document: Document, function: FunctionNode, target: ast.expr) -> list[Edit]:
    """What becomes of the `global` statement of a variable that is no longer bound."""
    for node in own_scope(function):
        if isinstance(node, ast.Global) and isinstance(target, ast.Name) and target.id in node.names:
            others = [name for name in node.names if name != target.id]
            edit = replaced(document, node, f"global {', '.join(others)}") if others else removal(document, node)
            return [edit] if edit is not None else []
    return []
