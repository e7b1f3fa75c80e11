"""`out=` in regions: Dynamo refuses a tensor of another shape than the result, and one that is not contiguous."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.layouts import rearranged
from nonstrict.program.contracts.regions import breaks
from nonstrict.program.contracts.regions.shapes import shape
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame


def check(frame: Frame, node: ast.AST) -> None:
    """An operator of a region writes into the tensor given as `out`."""
    if not isinstance(node, ast.Call):
        return
    out = next((keyword.value for keyword in node.keywords if keyword.arg == "out"), None)
    if out is None:
        return
    if rearranged(naming.names_at(frame), out):
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
