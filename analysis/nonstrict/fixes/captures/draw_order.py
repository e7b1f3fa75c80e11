"""Whether a draw comes first of all that a region draws from one source: then it can be made before the region runs.

Others follow, each once it comes first, and are passed behind it: numbers are drawn in the order in which they were.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import FunctionNode
from nonstrict.facts.targets import last_name
from nonstrict.fixes.captures import draws
from nonstrict.fixes.uses import traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.references import Uses

#: Where a function draws, or calls what does: ends of calls, which are in the order of evaluation.
_Points = dict[FunctionNode, set[tuple[int, int]]]
_MODULES = ("random.", "numpy.random.")
_MAX_FUNCTIONS = 40


def comes_first(context: Context, document: Document, node: ast.expr) -> bool:
    """Whether nothing that is traced with an expression draws from its source before it."""
    uses = context.documents.uses
    sources = {source for part in ast.walk(node) if (source := _source(uses, document, part))}
    if not sources:
        return True
    functions = traced.in_bodies(context) | traced.in_regions(context)
    inside = set(ast.walk(node))
    mine = _points(uses, document, node, functions)
    for other, part in _draws(context, functions, sources):
        theirs = _points(uses, other, part, functions) if part not in inside else {}
        for function in mine.keys() & theirs.keys():
            if min(theirs[function] - mine[function], default=max(mine[function])) < max(mine[function]):
                return False
    return True


def _draws(context: Context, functions: frozenset[Span], sources: set[str]) -> Iterator[tuple[Document, ast.expr]]:
    """The draws from some sources in traced functions."""
    uses = context.documents.uses
    for path in sorted({span.path for span in functions}):
        document = context.documents.document(path)
        if document is None:
            continue
        for node in document.of(ast.Call):
            if _source(uses, document, node) in sources and _is_traced(document, node, functions):
                yield document, node


def _is_traced(document: Document, node: ast.AST, functions: frozenset[Span]) -> bool:
    around = (one for one in document.around(node) if isinstance(one, FunctionNode))
    return any(document.span(one) in functions for one in around)


def _source(uses: Uses, document: Document, node: ast.AST) -> str:
    """What a call draws from: a module, a generator or an iterator; "" for other expressions."""
    if not isinstance(node, ast.Call):
        return ""
    name = uses.scopes(document).dotted(node.func)
    if name.startswith(_MODULES):
        return next(module for module in _MODULES if name.startswith(module))
    if last_name(node) == "next" and node.args and not isinstance(node.func, ast.Attribute):
        return last_name(node.args[0])
    if not isinstance(node.func, ast.Attribute) or name.startswith("torch."):
        return ""
    held = uses.value(document, node.func.value)
    generator = draws.is_generator(held)
    return last_name(node.func.value) if generator or draws.is_number(node.func.attr) else ""


def _points(uses: Uses, document: Document, node: ast.expr, functions: frozenset[Span]) -> _Points:
    """Where traced functions evaluate an expression, or call what leads to it."""
    found: _Points = {}
    pending: list[tuple[Document, ast.expr]] = [(document, node)]
    while pending and len(found) < _MAX_FUNCTIONS:
        where, part = pending.pop()
        function = where.function(part)
        if function is None or where.span(function) not in functions:
            continue
        known = function in found
        found.setdefault(function, set()).add((part.end_lineno or 0, part.end_col_offset or 0))
        if not known:
            pending += ((call.document, call.node) for call in uses.of(where, function).calls)
    return found
