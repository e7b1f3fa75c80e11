"""Numbers taken out of tensors by `item()`: Dynamo computes with them, and there are places where they cannot stand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions import arguments, breaks
from nonstrict.program.contracts.regions.shapes import shape
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NO_CONSTANT, PRIMITIVES, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.state.frames import Frame

_LISTED = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET})


def indexed(frame: Frame, node: ast.Subscript, index: Value) -> None:
    """A part of a tensor is read."""
    indexes(frame, node, index)
    given = parts(index)
    selects(frame, node, given)
    if any(part.is_tensor and part.flags & Flag.BOOLEAN for part in given):
        breaks.statement(frame, node, "tensor-subscript-mask")


def indexes(frame: Frame, node: ast.AST, index: Value, *, stores: bool = False) -> None:
    """Such a number beside another index of a tensor (`x[:, k]`) is no index for torch; alone (`x[k]`) it is."""
    several = index.kind is Kind.TUPLE and index.heap is not None and len(index.heap.items) > 1
    if not several or index.heap is None:
        return
    if any(part.kind is Kind.NUMBER and arguments.from_item(part) for part in index.heap.items.values()):
        breaks.statement(frame, node, "item-in-index-write" if stores else "item-in-index")


def stored(frame: Frame, node: ast.AST, index: Value) -> None:
    """A part of a tensor is set."""
    indexes(frame, node, index, stores=True)
    if isinstance(node, ast.Subscript):
        selects(frame, node, parts(index), stores=True)


def parts(index: Value) -> list[Value]:
    """The indices of a subscript, one for each dimension that it tells of."""
    return list(index.heap.items.values()) if index.kind is Kind.TUPLE and index.heap is not None else [index]


def selects(frame: Frame, node: ast.Subscript, given: Sequence[Value], *, stores: bool = False) -> None:
    """Torch takes the number out of an index that is a tensor: one without dimensions, or the bound of a slice."""
    written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(written) != len(given):
        return
    for expression, value in zip(written, given, strict=True):
        if isinstance(expression, ast.Slice):
            bounds = (expression.lower, expression.upper, expression.step)
            told = [frame.machine.evaluate(frame, bound) for bound in bounds if bound is not None]
            if any(bound.is_tensor and not bound.flags & Flag.LITERAL for bound in told):
                breaks.statement(frame, node, "tensor-slice-tensor")
                return
            if any(arguments.is_drawn(frame, bound) for bound in told):
                breaks.statement(frame, node, "tensor-slice-random")
                return
        elif arguments.is_drawn(frame, value):
            breaks.statement(frame, node, "tensor-subscript-random")
            return
        elif _is_place(frame, expression, value):
            breaks.statement(frame, node, "tensor-subscript-scalar-write" if stores else "tensor-subscript-scalar")
            return


def augmented(frame: Frame, node: ast.Subscript, index: Value) -> None:
    """`x[mask] += 1` selects before it writes, where `x[mask] = 1` does not."""
    if any(part.is_tensor and part.flags & Flag.BOOLEAN for part in parts(index)):
        breaks.statement(frame, node, "mask-augmented")
    selects(frame, node, parts(index), stores=True)


def _is_place(frame: Frame, expression: ast.expr, index: Value) -> bool:
    """Whether an index is a whole number in a tensor, of which Dynamo does not know it."""
    if not index.is_tensor or index.flags & (Flag.BOOLEAN | Flag.LITERAL | Flag.FLOATING):
        return False
    return not arguments.guards_item(index) and shape(frame, expression) == ()


def formatted(frame: Frame, node: ast.AST, given: Value) -> None:
    """`"%.4f" % loss.item()`: f-strings and `format` take such a number, this operator does not."""
    if any(part.kind is Kind.NUMBER and arguments.from_item(part) for part in parts(given)):
        breaks.statement(frame, node, "item-percent")


def sought(frame: Frame, node: ast.AST, element: Value, holder: Value) -> bool:
    """Whether a tensor is sought among tensors: the answer is one too. Among numbers that decides on its data."""
    if not element.is_tensor or holder.kind not in _LISTED or holder.heap is None:
        return False
    held = list(holder.heap.items.values()) or _elements(holder)
    if held and all(one.kind in PRIMITIVES and one.const is not NO_CONSTANT for one in held):
        breaks.statement(frame, node, "if-tensor-among-numbers")
    return bool(held) and all(one.is_tensor for one in held) and not _is_named_among(node)


def _elements(holder: Value) -> list[Value]:
    """What a list that a region is given may hold."""
    element = holder.heap.element if holder.heap is not None else None
    given = holder.place.root is Root.ARGUMENT
    return [*element.alternatives()] if given and element is not None else []


def _is_named_among(node: ast.AST) -> bool:
    """Whether what is sought is written among what it is sought in: an object is found without being compared."""
    if not isinstance(node, ast.Compare):
        return True
    holder = node.comparators[-1]
    written = holder.elts if isinstance(holder, (ast.List, ast.Tuple, ast.Set)) else []
    return ast.dump(node.left) in map(ast.dump, written)
