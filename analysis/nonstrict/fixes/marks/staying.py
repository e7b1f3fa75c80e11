"""Options with which a region stays compiled, or computes with each value that it is given (NST803, NST804, NST805)."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import after, inserted, replaced
from nonstrict.fixes.code.lists import arguments_of, with_element
from nonstrict.fixes.code.names import spelled
from nonstrict.program.contracts.regions import ways_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.contracts.regions.ways_out import Option

_IMPORTS = (ast.Import, ast.ImportFrom)


def stays(context: Context) -> Iterator[Fix]:
    """Options under which the region is not compiled again for what the finding is about."""
    found = recompilation(context)
    for option in ways_out.of(context.body, found) if found is not None else ():
        yield from _configured(context, option) if option.is_config else with_dynamic(context, value=True)


def with_dynamic(context: Context, *, value: bool) -> Iterator[Fix]:
    """`dynamic=` where the region is compiled: a decorator, or a call of what compiles."""
    span = context.body.marked_at
    document = context.documents.document(span.path)
    node = document.at(span, ast.Call, ast.Name, ast.Attribute) if document is not None else None
    if document is not None and node is not None:
        edit = _with_dynamic(document, node, f"dynamic={value}")
        if edit is not None:
            yield Fix(f"Compile with `dynamic={value}`", Applicability.UNSAFE, (edit,))


def _with_dynamic(document: Document, node: ast.expr, text: str) -> Edit | None:
    if not isinstance(node, ast.Call):
        return inserted(document, document.bounds(node)[1], f"({text})")
    if any(keyword.arg is None for keyword in node.keywords):
        return None  # `**options` may have it
    given = next((keyword for keyword in node.keywords if keyword.arg == "dynamic"), None)
    if given is not None:
        return replaced(document, given, text)
    return with_element(document, arguments_of(document, node), text)


def recompilation(context: Context) -> Recompilation | None:
    """What the finding was made of."""
    here = (one for one in context.body.recompilations if one.seen.effect.span == context.finding.span)
    return next((one for one in here if one.seen.effect.cause == context.finding.cause), None)


def _configured(context: Context, option: Option) -> Iterator[Fix]:
    """A key of Dynamo's configuration, set below the imports of the file that compiles."""
    document = context.documents.document(context.body.marked_at.path)
    if document is None:
        return
    head = takewhile(lambda one: isinstance(one, _IMPORTS) or _is_text(one), document.tree.body)
    last = next((one for one in reversed([*head]) if isinstance(one, _IMPORTS)), None)
    spelling = spelled(document, "torch._dynamo.config")
    edit = after(document, last, ["", f"{spelling.text}.{option.name} = True"]) if last is not None else None
    if edit is not None and not spelling.edits:
        yield Fix(f"Set `torch._dynamo.config.{option.name}`", Applicability.UNSAFE, (edit,))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
