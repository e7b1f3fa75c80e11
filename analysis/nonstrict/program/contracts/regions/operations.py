"""Tensor operations of a region: graphs are what lies of them between breaks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import TENSORS, Kind, Value

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

_MAY_BE = TENSORS | {Kind.UNKNOWN}


def note(frame: Frame, node: ast.AST, value: Value) -> None:
    """An expression has a value: a new tensor is computed there, or several; what is not known may be one."""
    if any(one.kind in _MAY_BE for one in value.alternatives()) or _is_several(node, value):
        is_tensor = value.kind not in (Kind.UNION, Kind.UNKNOWN)
        computes = is_tensor and (value.place.root is Root.FRESH or _is_method(node))
        known = frame.summary.operations
        known[node] = known.get(node, False) or (computes and not frame.branches)


def stored(frame: Frame, node: ast.AST) -> None:
    """A part of a tensor is set, which is an operation too."""
    known = frame.summary.operations
    known[node] = known.get(node, False) or not frame.branches


def _is_several(node: ast.AST, value: Value) -> bool:
    """Whether a call gives several tensors: `x.topk(2)`."""
    element = value.heap.element if value.kind is Kind.TUPLE and value.heap is not None else None
    return isinstance(node, ast.Call) and element is not None and element.is_tensor


def _is_method(node: ast.AST) -> bool:
    """Whether a method of tensors is called: one that changes its tensor in place returns that."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and bool(tensor_method(node.func.attr))
