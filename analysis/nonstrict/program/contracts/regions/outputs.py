"""`out=` in regions: Dynamo refuses a tensor of another shape than the result, and one that is not contiguous."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.contracts.regions import breaks
from nonstrict.program.contracts.regions.shapes import shape

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame


def check(frame: Frame, node: ast.AST) -> None:
    """An operator of a region writes into the tensor given as `out`."""
    if not isinstance(node, ast.Call):
        return
    out = next((keyword.value for keyword in node.keywords if keyword.arg == "out"), None)
    if out is None:
        return
    if _strided(out):
        breaks.statement(frame, node, "out-noncontiguous")
        return
    given = shape(frame, out)
    if given is None or None in given:
        return
    made = shape(frame, node)
    if made is None or None in made:
        # An empty tensor is one that torch is expected to enlarge.
        operands = [shape(frame, argument) for argument in node.args]
        differs = given == (0,) and not any(0 in one for one in operands if one is not None)
    else:
        differs = made != given
    if differs:
        breaks.statement(frame, node, "out-shape-mismatch")


def _strided(out: ast.expr) -> bool:
    """Whether an expression is a column of a tensor, or a transposed one: `table[:, 0]`, `x.T`."""
    if isinstance(out, ast.Subscript) and isinstance(out.slice, ast.Tuple):
        parts = out.slice.elts
        whole = isinstance(parts[0], ast.Slice) and parts[0].lower is None and parts[0].upper is None
        return whole and any(isinstance(part, ast.Constant) for part in parts[1:])
    if isinstance(out, ast.Attribute):
        return out.attr in ("T", "mT", "H", "mH")
    called_on = isinstance(out, ast.Call) and isinstance(out.func, ast.Attribute)
    method = tensor_method(last_name(out)) if called_on else None
    return method is not None and method.permutes
