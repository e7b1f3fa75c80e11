"""Numbers taken out of tensors stay tensors: `x * t.item()` becomes `x * t.detach()`.

A tensor without dimensions takes part in arithmetic as a Python number does: it does not change the dtype of a tensor
of its category. `detach()` keeps the gradient as it was: none flows through a number. A number stays what it is when
the tensor changes: so does a copy. `float(t)` of integers makes floating-point numbers of what it is computed with, of
torch's default dtype: so does `t.mul(1.0)`, while `t.double()` would make doubles of integers.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.names import dotted, spelled
from nonstrict.fixes.tensors.changes import may_change_later
from nonstrict.fixes.tensors.dtypes import Dtypes
from nonstrict.fixes.tensors.kinds import Kinds
from nonstrict.fixes.uses.terms import enclosed
from nonstrict.knowledge.operators import tensor_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def keep_tensor(context: Context) -> Iterator[Fix]:
    """Leave out `.item()`, `int(...)` or `float(...)` where the number only takes part in arithmetic with tensors."""
    document = context.document
    node = document.at(context.finding.span, ast.Call) if document is not None else None
    function = document.function(node) if document is not None and node is not None else None
    if document is None or node is None or function is None:
        return
    kinds = Kinds(context, document, function)
    text = tensor_text(document, kinds, node, kept=may_change_later(document, kinds, function, node))
    if text is None or not _only_computes(document, kinds, function, node):
        return
    yield Fix("Keep the value in a tensor", Applicability.UNSAFE, (replaced(document, node, text),))


def count_in_tensor(context: Context) -> Iterator[Fix]:
    """`x * torch.nonzero(t).shape[0]` becomes `x * torch.count_nonzero(t)`."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    function = document.function(call) if document is not None and call is not None else None
    if document is None or call is None or function is None:
        return
    known = dotted(document, call.func)
    if known == "torch.nonzero" and len(call.args) == 1 and not call.keywords:
        operand = call.args[0]
    elif not known and isinstance(call.func, ast.Attribute) and call.func.attr == "nonzero" and not call.args:
        operand = call.func.value
    else:
        return
    count = _count(document, call)
    kinds = Kinds(context, document, function)
    if call.keywords or count is None or not _only_computes(document, kinds, function, count):
        return
    spelling = spelled(document, "torch.count_nonzero")
    edit = replaced(document, count, f"{spelling.text}({document.text(operand)})")
    yield Fix("Count with `torch.count_nonzero`", Applicability.UNSAFE, (edit, *spelling.edits))


def sum_in_tensor(context: Context) -> Iterator[Fix]:
    """`x * sum(t.tolist())` becomes `x * t.detach().sum()`."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    total = document.parent(call) if document is not None and call is not None else None
    function = document.function(call) if document is not None and call is not None else None
    if document is None or call is None or function is None or not isinstance(call.func, ast.Attribute):
        return
    if not isinstance(total, ast.Call) or total.args != [call] or total.keywords or call.func.attr != "tolist":
        return
    if not isinstance(total.func, ast.Name) or total.func.id != "sum":
        return
    if _only_computes(document, Kinds(context, document, function), function, total):
        text = f"{document.text(call.func.value)}.detach().sum()"
        yield Fix("Sum in a tensor", Applicability.UNSAFE, (replaced(document, total, text),))


def tensor_text(document: Document, kinds: Kinds, call: ast.Call, *, kept: bool = False) -> str | None:
    """`t.item()`, `int(t)` or `float(t)` as a tensor without dimensions; None for other calls.

    `kept` says that tensors may be changed before the number is used: then it is a copy.
    """
    if isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args and not call.keywords:
        tensor, convert = call.func.value, ""
    elif isinstance(call.func, ast.Name) and call.func.id in ("int", "float") and len(call.args) == 1:
        tensor, convert = call.args[0], ".long()"
        if call.func.id == "float":
            convert = "" if Dtypes(document, kinds).is_floating(tensor) else ".mul(1.0)"
    else:
        return None
    text = document.text(tensor)
    if "\n" in text or isinstance(tensor, ast.Starred):
        return None
    flat = "" if kinds.is_scalar(tensor) else ".reshape(())"
    copied = ".clone()" if kept and convert != ".mul(1.0)" and not kinds.is_new(tensor) else ""
    return f"{enclosed(text)}{flat}.detach(){copied}{convert}"


def _count(document: Document, call: ast.Call) -> ast.expr | None:
    """The number of rows of what `nonzero` returns: `.shape[0]`, `.size(0)` or `len(...)`."""
    outer = document.parent(call)
    whole = document.parent(outer) if outer is not None else None
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "len":
        return outer
    if not isinstance(outer, ast.Attribute) or not isinstance(whole, (ast.Subscript, ast.Call)):
        return None
    if isinstance(whole, ast.Subscript):
        index, named = whole.slice, outer.attr == "shape" and whole.value is outer
    else:
        index, named = (whole.args[0] if whole.args else None), outer.attr == "size" and whole.func is outer
    first = isinstance(index, ast.Constant) and index.value == 0
    return whole if named and first else None


def _only_computes(document: Document, kinds: Kinds, function: FunctionNode, node: ast.expr) -> bool:
    """Whether a number ends in arithmetic with a tensor, wherever it goes."""
    outer = document.parent(node)
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, _ARITHMETIC):
        other = outer.right if outer.left is node else outer.left
        return kinds.is_tensor(other) or (kinds.is_number(other) and _only_computes(document, kinds, function, outer))
    if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.USub):
        return _only_computes(document, kinds, function, outer)
    if isinstance(outer, ast.Call) and node in outer.args and isinstance(outer.func, ast.Attribute):
        method = tensor_method(outer.func.attr)
        computes = method is not None and method.broadcasts
        return computes and len(outer.args) == 1 and kinds.is_tensor(outer.func.value)
    if isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.targets[0], ast.Name):
        return _variable_computes(document, kinds, function, outer.targets[0])
    return False


def _variable_computes(document: Document, kinds: Kinds, function: FunctionNode, target: ast.Name) -> bool:
    """Whether a variable is bound once, and every use of it is arithmetic with a tensor."""
    scope = {id(node) for node in own_scope(function)}
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == target.id]
    declared = any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(function))
    if declared or any(id(node) not in scope for node in uses):
        return False
    loads = [node for node in uses if node is not target]
    return bool(loads) and all(
        isinstance(node.ctx, ast.Load) and _only_computes(document, kinds, function, node) for node in loads
    )
