"""A registered buffer that is assigned anew is changed in place instead, which compiled code repeats."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.uses.terms import root
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import TENSORS, Flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context

_IN_PLACE: dict[type[ast.operator], str] = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}


def change_in_place(context: Context) -> Iterator[Fix]:
    """`self.total = self.total + 1` becomes `self.total.add_(1)`; any other value is copied into the buffer."""
    document, seen = context.document, context.observed(Event.WRITE)
    target = document.at(context.finding.span, ast.Attribute) if document is not None else None
    if document is None or seen is None or target is None or seen.effect.place.root is not Root.ARGUMENT:
        return
    statement = document.statement(target)
    if not isinstance(statement, ast.Assign) or statement.targets != [target] or not _is_buffer(context, target):
        return
    value, name = statement.value, document.text(target)
    if seen.effect.value.kind not in TENSORS or not is_pure(document, value):
        return
    method, given = "copy_", document.text(value)
    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == ast.unparse(target) and type(value.op) in _IN_PLACE:
        method, given = _IN_PLACE[type(value.op)], document.text(value.right)
    edit = replaced(document, statement, f"{name}.{method}({given})")
    yield Fix(f"Change `{name}` in place", Applicability.UNSAFE, (edit,))


def _is_buffer(context: Context, target: ast.Attribute) -> bool:
    """Whether an attribute of an argument is known to be a registered buffer."""
    base = root(target)
    holder = context.body.arguments.get(base.id) if base is not None else None
    if holder is None or holder.heap is None or not isinstance(target.value, ast.Name):
        return False
    known = holder.heap.attributes.get(target.attr)
    return known is not None and bool(known.flags & Flag.REGISTERED)
