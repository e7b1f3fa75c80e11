"""Data that a function only returns leaves it as torch lets it: by `item()`, or as the tensor it is.

Measured on torch 2.13.0: a number that `item()` gives crosses the boundary if nothing in the function asks what it is;
`float(t)`, `int(t)` and `bool(t)` ask. So it is under `allow_in_graph`; `make_fx` refuses `item()` of real tensors.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.passable import MARKERS
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.names import dotted
from nonstrict.fixes.tensors.branches import equal_elements, equality, has_one_shape, tensor_test
from nonstrict.fixes.tensors.dtypes import Dtypes
from nonstrict.fixes.tensors.kinds import Kinds
from nonstrict.fixes.uses.terms import enclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_HOLDERS = (ast.Tuple, ast.List, ast.Dict)
_NUMBERS = frozenset({"float", "int"})
_NAMED = (ast.Name, ast.Attribute, ast.expr_context)
_ARRAYS = frozenset({"numpy.asarray", "numpy.array"})


def return_item(context: Context) -> Iterator[Fix]:
    """`return float(t)` becomes `return t.item()`, `torch.equal(a, b)` compares shapes, which are guarded, and data."""
    known = _returned(context)
    if known is None or context.body.marker not in MARKERS:
        return
    document, call, function = known
    text = _item(document, Kinds(context, document, function), call)
    if text:
        yield Fix(f"Return `{text}`", Applicability.UNSAFE, (replaced(document, call, text),))


def return_tensor(context: Context) -> Iterator[Fix]:
    """`return t.numpy()` becomes `return t`, which callers get instead of an array."""
    known = _returned(context)
    if known is None:
        return
    document, call, _ = known
    of_numpy = dotted(document, call.func) in _ARRAYS and len(call.args) == 1
    if of_numpy and not call.keywords:
        tensor = call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "numpy" and not call.args:
        tensor = call.func.value
    else:
        return
    yield Fix("Return the tensor", Applicability.DISPLAY, (replaced(document, call, document.text(tensor)),))


def _returned(context: Context) -> tuple[Document, ast.Call, FunctionNode] | None:
    """The call of a finding, if its value is returned by the marked function and used nowhere else."""
    document, marked = context.document, context.body.mark.function
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    function = document.function(node) if document is not None and node is not None else None
    known = context.definition(marked) if marked is not None else None
    if document is None or node is None or function is None or known is None or known[1] is not function:
        return None
    whole = _converted(document, node)
    if not isinstance(whole, ast.Call) or not _goes_out(document, function, whole):
        return None
    return document, whole, function


def _converted(document: Document, node: ast.expr) -> ast.expr:
    """The call of `bool` around the tensor that is reported."""
    outer = document.parent(node)
    named = isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id in ("bool", *_NUMBERS)
    return outer if named and isinstance(outer, ast.Call) and outer.args == [node] else node


def _goes_out(document: Document, function: FunctionNode, node: ast.expr) -> bool:
    outer = document.parent(node)
    while isinstance(outer, _HOLDERS):
        outer = document.parent(outer)
    if isinstance(outer, ast.Return) or outer is function:
        return True
    if not isinstance(outer, ast.Assign) or outer.value is not node or not isinstance(outer.targets[0], ast.Name):
        return False
    uses = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == outer.targets[0].id]
    reads = [one for one in uses if one is not outer.targets[0]]
    own = {id(one) for one in own_scope(function)}
    alone = len(outer.targets) == 1 and all(id(one) in own and isinstance(one.ctx, ast.Load) for one in reads)
    return alone and bool(reads) and all(_goes_out(document, function, one) for one in reads)


def _item(document: Document, kinds: Kinds, call: ast.Call) -> str:
    """A conversion or comparison as a number or truth value that `item()` gives; "" for others."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name in _NUMBERS and len(call.args) == 1 and not call.keywords:
        return _number(document, kinds, name, call.args[0])
    inner = call.args[0] if name == "bool" and len(call.args) == 1 else call
    sides = equality(document, inner) if isinstance(inner, ast.Call) else None
    if sides is not None and not has_one_shape(kinds, sides):
        return _same(document, sides)
    test = tensor_test(document, kinds, call)
    return f"{enclosed(test)}.item()" if test is not None and "\n" not in test else ""


def _number(document: Document, kinds: Kinds, name: str, tensor: ast.expr) -> str:
    """`float(t)` or `int(t)`; `item()` of integers gives an `int`."""
    text = document.text(tensor)
    if "\n" in text or not kinds.is_tensor(tensor):
        return ""
    floating = Dtypes(document, kinds).is_floating(tensor)
    convert = ".long()" if name == "int" else "" if floating else ".double()"
    return f"{enclosed(text)}{convert}.item()"


def _same(document: Document, sides: tuple[ast.expr, ast.expr]) -> str:
    """Whether two tensors that have names have one shape and equal elements."""
    texts = [document.text(side) for side in sides]
    named = all(isinstance(part, _NAMED) for side in sides for part in ast.walk(side))
    if not named or any("\n" in text for text in texts):
        return ""
    return f"{texts[0]}.shape == {texts[1]}.shape and {equal_elements(document, sides)}.item()"
