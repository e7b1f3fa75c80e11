"""Sizes that follow from data: how many elements a mask selects is not known while a region is traced.

Only what surely is such a size accuses: that of the first dimension of a selection, as long as nothing is done with it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.library_calls import called
from nonstrict.facts.use_def import use_def
from nonstrict.program.domain.values import Flag, Kind, Value
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Collection

    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.state.frames import Frame

#: Methods that take a tensor apart along its first dimension, if they are told no other.
_TAKING_APART = {"unbind": 0, "tolist": 0, "chunk": 1, "split": 1, "tensor_split": 1}
_COUNTS = frozenset({"size", "numel", "nelement"})
_SELECTING = frozenset({"nonzero", "masked_select", "unique", "argwhere"})
#: Functions that return a tuple of places.
_PLACES = frozenset({"where", "nonzero"})


def is_size(frame: Frame, node: ast.AST, number: Value) -> bool:
    """Whether the only argument of a call is how many elements a selection has."""
    sole = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
    selection = _measured(sole) if sole is not None and number.kind is Kind.NUMBER else None
    return selection is not None and _is_selection(frame, selection, number)


def taken_apart(frame: Frame, node: ast.AST, tensor: Value, name: str) -> bool:
    """Whether a method takes a selection apart along the dimension that depends on data."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or name not in _TAKING_APART:
        return False
    given = len(node.args) - (len(node.args) > _TAKING_APART[name] and _is_zero(node.args[-1]))
    along_first = not node.keywords and given == _TAKING_APART[name]
    return along_first and tensor.is_tensor and _is_selection(frame, node.func.value, tensor)


def _measured(size: ast.expr) -> ast.expr | None:
    """The tensor whose first dimension, or number of elements, an expression is."""
    if isinstance(size, ast.Subscript) and isinstance(size.value, ast.Attribute) and size.value.attr == "shape":
        return size.value.value if _is_zero(size.slice) else None
    if not isinstance(size, ast.Call) or size.keywords:
        return None
    if isinstance(size.func, ast.Name) and size.func.id == "len" and len(size.args) == 1:
        return size.args[0]
    if isinstance(size.func, ast.Attribute) and size.func.attr in _COUNTS:
        whole = not size.args and size.func.attr != "size"
        return size.func.value if whole or (len(size.args) == 1 and _is_zero(size.args[0])) else None
    return None


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_selection(frame: Frame, expression: ast.expr, carrying: Value) -> bool:
    """Whether an expression is a selection by data, or a variable that holds nothing else."""
    source = bound_once(frame, expression.id) if isinstance(expression, ast.Name) else expression
    if source is None or not _selects_rows(frame, source):
        return False
    checked = frame.summary.settled
    return any(_of(effect, source) and effect.key not in checked for effect in carrying.taint)


def _of(effect: Effect, source: ast.expr) -> bool:
    made = source.value if isinstance(source, ast.Subscript) and isinstance(source.value, ast.Call) else source
    return effect.event is Event.ESCAPE and effect.node in (source, made)


def _selects_rows(frame: Frame, source: ast.expr) -> bool:
    """Whether the first dimension of a selection is the one that depends on data."""
    if isinstance(source, ast.Subscript) and isinstance(source.slice, ast.Constant):
        # Each of what `torch.where(mask)` returns has as many elements as there are.
        return isinstance(source.value, ast.Call) and _calls(frame, source.value, _PLACES)
    if isinstance(source, ast.Subscript):
        by = frame.machine.evaluate(frame, source.slice)
        return by.is_tensor and bool(by.flags & Flag.BOOLEAN)
    return isinstance(source, ast.Call) and not source.keywords and _calls(frame, source, _SELECTING)


def _calls(frame: Frame, node: ast.Call, names: Collection[str]) -> bool:
    """Whether a call is that of a method of these names, or of a function of torch."""
    call = called(naming.names_at(frame), node)
    return call.name in names and call.library in ("", "torch")


def bound_once(frame: Frame, name: str) -> ast.expr | None:
    """What the only assignment of a local variable assigns."""
    return use_def(frame.function.node).value(name) if frame.function is not None else None
