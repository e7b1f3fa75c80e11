"""Constructs that do not compile, written with the operator of torch that does the same."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.names import dotted, spelled
from nonstrict.fixes.tensors.kinds import Kinds
from nonstrict.fixes.uses.terms import enclosed
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context


def clone(context: Context) -> Iterator[Fix]:
    """`copy.deepcopy(t)` of a tensor becomes `t.clone()`; a gradient flows through a clone."""
    document, seen = context.document, context.observed(Event.ESCAPE)
    if seen is None or seen.effect.value.kind is not Kind.TENSOR:
        return
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    if document is None or call is None or len(call.args) != 1 or call.keywords:
        return
    if dotted(document, call.func) != "copy.deepcopy" or isinstance(call.args[0], ast.Starred):
        return
    text = enclosed(document.text(call.args[0]))
    yield Fix("Copy with `clone()`", Applicability.UNSAFE, (replaced(document, call, f"{text}.clone()"),))


def sort_in_tensor(context: Context) -> Iterator[Fix]:
    """`sorted([a, b])[0]` of tensors becomes `torch.stack([a, b]).sort().values[0]`."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    if document is None or call is None or len(call.args) != 1 or not isinstance(call.args[0], (ast.List, ast.Tuple)):
        return
    outer = document.parent(call)
    if not isinstance(call.func, ast.Name) or call.func.id != "sorted" or not _is_indexed(outer, call):
        return
    descending = ""
    for keyword in call.keywords:
        if keyword.arg != "reverse" or not isinstance(keyword.value, ast.Constant):
            return
        descending = "descending=True" if keyword.value.value else ""
    function = document.function(call)
    kinds = Kinds(context, document, function) if function is not None else None
    if kinds is None or not all(kinds.is_tensor(element) for element in call.args[0].elts):
        return
    spelling = spelled(document, "torch.stack")
    text = f"{spelling.text}({document.text(call.args[0])}).sort({descending}).values"
    edit = replaced(document, call, text)
    yield Fix("Sort with `torch.sort`", Applicability.UNSAFE, (edit, *spelling.edits))


def larger(context: Context) -> Iterator[Fix]:
    """`max(a, b)` of two tensors becomes `torch.maximum(a, b)`."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    function = document.function(call) if document is not None and call is not None else None
    if document is None or call is None or function is None or len(call.args) != 2 or call.keywords:
        return
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    kinds = Kinds(context, document, function)
    if name not in ("max", "min") or not all(kinds.is_tensor(argument) for argument in call.args):
        return
    spelling = spelled(document, f"torch.{name}imum")
    edit = replaced(document, call.func, spelling.text)
    yield Fix(f"Use `torch.{name}imum`", Applicability.UNSAFE, (edit, *spelling.edits))


def _is_indexed(outer: ast.AST | None, call: ast.Call) -> bool:
    """Whether only elements are taken out of what is sorted."""
    if isinstance(outer, ast.Subscript):
        return outer.value is call and not isinstance(outer.slice, ast.Slice)
    return isinstance(outer, ast.Assign) and all(isinstance(target, ast.Tuple) for target in outer.targets)
