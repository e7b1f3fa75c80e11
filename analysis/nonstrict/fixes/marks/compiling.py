"""`torch.compile` that compiles nothing, or wraps a module: the module compiled in place, or its methods."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import inserted, replaced
from nonstrict.fixes.code.lists import arguments_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context


def effective(context: Context) -> Iterator[Fix]:
    """Have something compiled where nothing is."""
    wasted = context.body.applied.wasted
    found = _application(context)
    if wasted is None or found is None or wasted.how == "in-place":
        return
    document, call, given = found
    statement = document.parent(call)
    if wasted.how == "member":
        yield from _by_method(context, document, call, given)
    elif isinstance(statement, ast.Expr) and statement.value is call and _is_top_function(context, document, call):
        edit = inserted(document, document.bounds(call)[0], f"{document.text(given)} = ")
        yield Fix(f"Bind the compiled function to `{document.text(given)}`", Applicability.SAFE, (edit,))
    elif (isinstance(statement, ast.Expr) and statement.value is call) or (
        isinstance(statement, ast.Assign) and (wasted.how == "rebound" or not wasted.past)
    ):
        yield from _in_place(context, document, statement, call, given, surest=Applicability.SAFE)


def _is_top_function(context: Context, document: Document, call: ast.Call) -> bool:
    """Whether a function is compiled at the level of the module: not in a loop, whose next turn takes the name."""
    plain = isinstance(call.args[0], ast.Name) and context.body.mark.target.kind is Kind.FUNCTION
    around = (one for one in document.around(call) if not isinstance(one, (ast.Expr, ast.If, ast.Module)))
    return plain and next(around, None) is None


def in_place(context: Context) -> Iterator[Fix]:
    """`net = torch.compile(net)` becomes `net.compile()`."""
    found = _application(context)
    if found is None:
        return
    document, call, given = found
    statement = document.parent(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.Assign) and [document.text(one) for one in targets] == [document.text(given)]:
        yield from _in_place(context, document, statement, call, given, surest=Applicability.UNSAFE)


def _application(context: Context) -> tuple[Document, ast.Call, ast.expr] | None:
    """The call of `torch.compile`, and what it is given first."""
    span = context.body.marked_at
    document = context.documents.document(span.path)
    call = document.at(span, ast.Call) if document is not None else None
    if document is None or call is None or not call.args or isinstance(call.func, ast.Call):
        return None
    if "#" in document.text(call):
        return None  # a comment has its place in the call
    return document, call, call.args[0]


def _in_place(
    context: Context,
    document: Document,
    statement: ast.stmt,
    call: ast.Call,
    given: ast.expr,
    *,
    surest: Applicability,
) -> Iterator[Fix]:
    known = _module(context)
    if known is None or not isinstance(given, (ast.Name, ast.Attribute)):
        return
    options = _options(document, call)
    text = f"{document.text(given)}.compile({options})"
    name = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(name, ast.Name) and name.id != document.text(given) and _is_read(document, name):
        text += f"\n{document.indentation(statement)}{name.id} = {document.text(given)}"
    yield Fix(f"Compile `{document.text(given)}` in place", surest, (replaced(document, statement, text),))


def _is_read(document: Document, name: ast.Name) -> bool:
    """Whether a name is read in the function around it."""
    around = document.function(name) or document.tree
    reads = (one for one in walk(around) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    return any(one.id == name.id for one in reads)


def _by_method(context: Context, document: Document, call: ast.Call, given: ast.expr) -> Iterator[Fix]:
    """`net = torch.compile(net)` becomes `net.encode = torch.compile(net.encode)`."""
    wasted = context.body.applied.wasted
    statement = document.parent(call)
    if wasted is None or not isinstance(statement, ast.Assign) or statement.value is not call:
        return
    target = document.text(statement.targets[0])
    if len(statement.targets) != 1 or target != wasted.name:
        return
    options = _options(document, call)
    indent = document.indentation(statement)
    lines = [] if document.text(given) == target else [f"{target} = {document.text(given)}"]
    for method in dict.fromkeys(name for name, _ in wasted.past):
        held = f"{target}.{method}"
        inside = ", ".join(part for part in (held, options) if part)
        lines.append(f"{held} = {document.text(call.func)}({inside})")
    methods = ", ".join(f"`{name}`" for name in dict.fromkeys(name for name, _ in wasted.past))
    edit = replaced(document, statement, f"\n{indent}".join(lines))
    yield Fix(f"Compile {methods}", Applicability.UNSAFE, (edit,))


def _options(document: Document, call: ast.Call) -> str:
    """All arguments of a call but the first, as they are written."""
    return ", ".join(document.code[one.start : one.end] for one in arguments_of(document, call).elements[1:])


def _module(context: Context) -> object | None:
    """The class of what is compiled, where it is a module without a method `compile` of its own."""
    target = context.body.mark.target
    if target.kind is not Kind.MODULE:
        return None
    if target.of_class is not None and classes.member(context.machine, target.of_class, "compile") is not None:
        return None
    return target.ref
