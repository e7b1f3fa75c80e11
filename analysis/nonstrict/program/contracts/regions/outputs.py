"""`out=` in regions: Dynamo refuses a tensor of another shape than the result, and one that is not contiguous."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.shapes import shape
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.contracts.regions import breaks
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.library_calls import Called
    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.state.frames import Frame

_JOINING = frozenset({"cat", "concat", "concatenate"})


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
    given = sizes(frame, out)
    if given is None:
        return
    call = called(naming.names_at(frame), node)
    operands = [sizes(frame, argument) for argument in (call.operand, *call.given) if argument is not None]
    known = [one for one in operands if one is not None]
    made = _result(frame, node, call, operands)
    differs = given == (0,) and not any(0 in one for one in known) if made is None else made != given
    if differs:
        breaks.statement(frame, node, "out-shape-mismatch")


def _result(
    frame: Frame, node: ast.Call, call: Called, operands: Sequence[tuple[int, ...] | None]
) -> tuple[int, ...] | None:
    """The sizes of what an operator gives; None if they are not known."""
    operator = call.operator
    if operator is None:
        return None
    if operator.keeps_shape and operands:
        return operands[0]
    if operator.pointwise:
        known = [one for one in operands if one is not None]
        return _together(known) if len(known) == len(operands) else None
    return _joined(frame, node, call.name) or _reduced(node, operator, operands)


def _joined(frame: Frame, node: ast.Call, name: str) -> tuple[int, ...] | None:
    """The sizes of `torch.cat([x, y], dim)`."""
    parts = node.args[0].elts if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) else []
    found = [sizes(frame, part) for part in parts]
    first = found[0] if found else None
    along = _dimension(node)
    if name not in _JOINING or not first or not isinstance(along, int) or not -len(first) <= along < len(first):
        return None
    if any(one is None or len(one) != len(first) for one in found):
        return None
    whole = list(first)
    whole[along] = sum(one[along] for one in found if one is not None)
    return tuple(whole)


def _reduced(node: ast.Call, operator: Operator, operands: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """The sizes of `torch.sum(x, dim=0)`."""
    of = operands[0] if operands else None
    along = _dimension(node, default=None)
    if operator.dim != 1 or operator.pairs or of is None or any(one.arg == "keepdim" for one in node.keywords):
        return None
    if along is None or not -len(of) <= along < len(of):
        return None
    kept = list(of)
    del kept[along]
    return tuple(kept)


def _dimension(node: ast.Call, default: int | None = 0) -> int | None:
    """The dimension that a call names; None where it is not known."""
    named = next((keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis")), None)
    given = named if named is not None else next(iter(node.args[1:]), None)
    if given is None:
        return default
    try:
        told = ast.literal_eval(given)
    except ValueError:
        return None
    return told if isinstance(told, int) else None


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


def sizes(frame: Frame, expression: ast.expr) -> tuple[int, ...] | None:
    """The sizes of a tensor as numbers; of a parameter of the region those that all of its callers pass."""
    if isinstance(expression, ast.Constant):
        return ()
    around = frame.function.node if frame.function is not None else None
    if around is None:
        return None
    if isinstance(expression, ast.Name) and frame.caller is None and not _is_stored(around, expression.id):
        found = set(_passed(frame, expression.id))
        return found.pop() if len(found) == 1 else None
    return _numbers(shape(naming.names_at(frame), around, expression))


def _is_stored(around: ast.AST, name: str) -> bool:
    names = (node for node in walk(around) if isinstance(node, ast.Name) and node.id == name)
    return any(not isinstance(node.ctx, ast.Load) for node in names)


def _passed(frame: Frame, name: str) -> Iterator[tuple[int, ...] | None]:
    from nonstrict.program.contracts.boundary.varying import given_expressions

    if frame.function is None:
        return
    for caller, _, expression in given_expressions(frame.machine, frame.function, name):
        around = caller.function.node if caller.function is not None else caller.module.outline.shell
        yield _numbers(shape(naming.names_at(caller), around, expression))


def _numbers(sizes: Sequence[ast.expr] | None) -> tuple[int, ...] | None:
    values = [size.value for size in sizes or () if isinstance(size, ast.Constant) and isinstance(size.value, int)]
    return tuple(values) if sizes is not None and len(values) == len(sizes) else None


def _together(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape that tensors have together; None if they do not go together."""
    rank = max((len(one) for one in shapes), default=0)
    padded = [(1,) * (rank - len(one)) + one for one in shapes]
    found: list[int] = []
    for sizes in zip(*padded, strict=True):
        larger = {size for size in sizes if size != 1}
        if len(larger) > 1:
            return None
        found.append(larger.pop() if larger else 1)
    return tuple(found)
