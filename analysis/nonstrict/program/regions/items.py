"""Numbers taken out of tensors by `item()`: Dynamo computes with them, and there are places where they cannot stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.regions import breaks
from nonstrict.program.values import NO_CONSTANT, PRIMITIVES, Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame

_LISTED = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET})


def indexes(frame: Frame, node: ast.AST, index: Value, *, stores: bool = False) -> None:
    """Such a number beside another index of a tensor (`x[:, k]`) is no index for torch; alone (`x[k]`) it is."""
    several = index.kind is Kind.TUPLE and index.heap is not None and len(index.heap.items) > 1
    if not frame.region or not several or index.heap is None:
        return
    if any(part.kind is Kind.NUMBER and breaks.from_item(part) for part in index.heap.items.values()):
        breaks.statement(frame, node, "item-in-index-write" if stores else "item-in-index")


def formatted(frame: Frame, node: ast.AST, given: Value) -> None:
    """`"%.4f" % loss.item()`: f-strings and `format` take such a number, this operator does not."""
    parts = [*given.heap.items.values()] if given.kind is Kind.TUPLE and given.heap is not None else [given]
    if frame.region and any(part.kind is Kind.NUMBER and breaks.from_item(part) for part in parts):
        breaks.statement(frame, node, "item-percent")


def sought(frame: Frame, node: ast.AST, element: Value, holder: Value) -> None:
    """A tensor is sought among numbers: that decides on its data."""
    if frame.region and element.is_tensor and holder.kind in _LISTED and holder.heap is not None:
        held = list(holder.heap.items.values())
        if held and all(one.kind in PRIMITIVES and one.const is not NO_CONSTANT for one in held):
            breaks.statement(frame, node, "if-tensor-among-numbers")
