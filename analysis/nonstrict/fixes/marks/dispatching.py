"""Functions that one call chooses among are marked where it calls them: `nonstrict_trace(kernels["sum"])(x)`.

Dynamo cannot tell marked functions apart, but it guards a plain function that is marked by the call: rebound names,
entries, arguments and attributes agreed with eager code on aot_eager and Inductor (measured on torch 2.13.0).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.uses.calls import argument
from nonstrict.fixes.uses.sites import Regions
from nonstrict.fixes.uses.spots import chain, origin, spot_of
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.discovery import constructions
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import UNKNOWN, Value
from nonstrict.program.mutations import attribute_writes
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.program.domain.definitions import Class, Mark

_MAX_MARKS = 12


def mark_at_call(context: Context) -> Iterator[Fix]:
    """Mark the functions no more, but what is called, at every call in a compiled region that reaches one of them."""
    call = _call(context, context.finding.span)
    if call is None:
        return
    marks: dict[Span, Mark] = {}
    calls: dict[Span, tuple[Document, ast.Call]] = {context.finding.span: call}
    done: set[Span] = set()
    while pending := [span for span in calls if span not in done]:
        for span in pending:
            done.add(span)
            reached = _reached(context, *calls[span])
            if reached is None or len(marks) > _MAX_MARKS:
                return
            for mark in reached:
                marks.setdefault(_place(mark), mark)
                calls.update(_calls(context, mark))
    edits = [*_marked_at(calls, next(iter(marks.values())).spelling), *_unmarked(context, marks)]
    known = [edit for edit in edits if edit is not None]
    if len(marks) > 1 and len(known) == len(edits) and not _has_other_uses(context, marks, calls):
        name = call[0].text(call[1].func)
        yield Fix(f"Mark `{name}` where it is called", Applicability.UNSAFE, tuple(known))


def _call(context: Context, span: Span) -> tuple[Document, ast.Call] | None:
    document = context.documents.document(span.path)
    node = document.at(span, ast.Call) if document is not None else None
    return (document, node) if document is not None and node is not None else None


def _place(mark: Mark) -> Span:
    return span_of(mark.path, mark.offset, mark.node)


# -- what a call reaches ----------------------------------------------------------------------------------------------


def _reached(context: Context, document: Document, call: ast.Call) -> list[Mark] | None:
    """The marks of the functions that a call may reach; None if it may reach anything else."""
    values = _values(context, document, call.func)
    reached = [one.mark for one in values if one.mark is not None and one.mark.kind == "nonstrict"]
    if not values or len(reached) != len(values):
        return None
    known = {_place(mark): mark for mark in context.machine.marks.values()}
    found = [known.get(_place(mark)) for mark in reached]
    marks = [mark for mark in found if mark is not None]
    return marks if len(marks) == len(found) else None


def _values(context: Context, document: Document, callee: ast.expr) -> list[Value]:
    """What is called: of the module, an entry of that, what callers pass for a parameter, an attribute of `self`."""
    uses = context.documents.uses
    function = document.function(callee)
    owner = document.parent(function) if function is not None else None
    if isinstance(callee, ast.Attribute) and isinstance(owner, ast.ClassDef) and _is_own(function, callee.value):
        return _held(context, document, owner, callee.attr)
    if isinstance(callee, ast.Name) and function is not None:
        scope = uses.scopes(document).text.binder(callee, callee.id)
        if scope is function:
            return _passed(context, document, function, callee.id)
    return list(uses.value(document, callee).alternatives())


def _passed(context: Context, document: Document, function: FunctionNode, name: str) -> list[Value]:
    """What all callers pass for a parameter; something unknown if one leaves it out, or not all are seen."""
    uses = context.documents.uses
    stored = any(isinstance(one, ast.Name) and one.id == name and _stores(one) for one in ast.walk(function))
    references = uses.of(document, function)
    if stored or references.obstacles or isinstance(function, ast.Lambda):
        return [UNKNOWN]
    found: list[Value] = []
    for one in references.calls:
        given = argument(function, one, name)
        found += uses.value(one.document, given).alternatives() if given is not None else [UNKNOWN]
    return found


def _is_own(function: FunctionNode | None, node: ast.expr) -> bool:
    """Whether an expression is the first parameter of a method."""
    first = function.args.args[:1] if function is not None else []
    return isinstance(node, ast.Name) and [one.arg for one in first] == [node.id]


def _held(context: Context, document: Document, owner: ast.ClassDef, attribute: str) -> list[Value]:
    """What objects of a class that one file makes hold in an attribute."""
    cls = next((one for one in context.machine.classes.values() if _place_of(one) == document.span(owner)), None)
    elsewhere = context.documents.uses.holding(owner.name, document.path)
    if cls is None or elsewhere is None or any(one is not document for one in elsewhere):
        return [UNKNOWN]
    if attribute_writes.of_class(context.machine, cls, attribute):
        return [UNKNOWN]
    made = constructions.constructions(context.machine, cls, attribute)
    template = classes.template(context.machine, cls).attributes.get(attribute)
    held = [one.value for one in made] if made else [template if template is not None else UNKNOWN]
    return [one for value in held for one in value.alternatives()]


def _place_of(cls: Class) -> Span:
    return span_of(cls.module.path, cls.offset, cls.node)


def _stores(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _calls(context: Context, mark: Mark) -> dict[Span, tuple[Document, ast.Call]]:
    """The calls that reach a marked function in compiled regions, and in what these call."""
    body = MarkedBody(context.machine, mark, context.body.torch)
    regions = Regions(context, context.documents.uses)
    found: dict[Span, tuple[Document, ast.Call]] = {}
    spans = {site.span: site.compiled for site in body.sites} | {one.span: True for one in body.dispatches}
    for span, compiled in spans.items():
        call = _call(context, span)
        if call is not None and (compiled or regions.compiled(call[0], call[0].function(call[1]))):
            found[span] = call
    return found


def _has_other_uses(context: Context, marks: dict[Span, Mark], calls: dict[Span, tuple[Document, ast.Call]]) -> bool:
    """Whether a compiled function does something else than these calls with one of the functions or what holds them."""
    uses = context.documents.uses
    regions = Regions(context, uses)
    known = {id(part) for _, call in calls.values() for part in ast.walk(call.func)}
    spots = {_module_spot(uses, document, part) for document, call in calls.values() for part in chain(call.func)}
    spots |= {(mark.function.module.path, mark.function.name) for mark in marks.values() if mark.function is not None}
    for path, name in (spot for spot in spots if spot is not None):
        documents = uses.holding(name, path)
        own = context.documents.document(path)
        if documents is None or own is None:
            return True
        for document in dict.fromkeys([own, *documents]):
            for node in document.of(ast.Name, ast.Attribute):
                if (
                    isinstance(node.ctx, ast.Load)
                    and id(node) not in known
                    and _module_spot(uses, document, node) == (path, name)
                    and regions.compiled(document, document.function(node))
                ):
                    return True
    return False


def _module_spot(uses: Uses, document: Document, node: ast.expr) -> tuple[str, str] | None:
    """The variable of a module that an expression is, where it comes from; None if it is none."""
    spot = spot_of(uses, document, node)
    of_module = spot is not None and isinstance(spot.scope, ast.Module)
    if spot is None or spot.steps or not of_module or uses.scopes(document).module_at(node):
        return None
    first = origin(uses, spot)
    return first.path, first.name


# -- edits ------------------------------------------------------------------------------------------------------------


def _marked_at(calls: dict[Span, tuple[Document, ast.Call]], marker: str) -> Iterator[Edit | None]:
    for document, call in calls.values():
        spelling = spelled(document, marker)
        yield from spelling.edits
        yield replaced(document, call.func, f"{spelling.text}({document.text(call.func)})")


def _unmarked(context: Context, marks: dict[Span, Mark]) -> Iterator[Edit | None]:
    """The edits that take markers off: functions at the level of a module that nothing else decorates."""
    for span, mark in marks.items():
        found = context.definition(mark.function) if mark.function is not None else None
        document = context.documents.document(span.path)
        marker = document.at(span, ast.expr) if document is not None else None
        if found is None or document is None or marker is None:
            yield None
            continue
        where, function = found
        plain = isinstance(function, ast.FunctionDef) and isinstance(where.parent(function), ast.Module)
        if not isinstance(function, ast.FunctionDef) or not plain or document is not where:
            yield None
        elif function.decorator_list == [marker]:
            yield _without_decorator(document, marker, function)
        elif isinstance(marker, ast.Call) and not function.decorator_list and _marks_by_name(marker, function.name):
            yield replaced(document, marker, document.text(marker.args[0]))
        else:
            yield None


def _without_decorator(document: Document, marker: ast.expr, function: ast.FunctionDef) -> Edit | None:
    first, last = document.offset(marker.lineno, 0), document.offset(function.lineno, 0)
    lines = document.lines[marker.lineno - 1 : function.lineno - 1]
    alone = marker.end_lineno == function.lineno - 1 and lines[0].lstrip().startswith("@")
    return Edit(document.range(first, last), "") if alone else None


def _marks_by_name(call: ast.Call, name: str) -> bool:
    return len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Name) and call.args[0].id == name
