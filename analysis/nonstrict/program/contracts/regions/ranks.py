"""How many dimensions tensors have, as far as the text of a region and of its callers tells.

Torch takes the number out of an index that is a tensor without dimensions.
"""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.library_calls import called
from nonstrict.facts.shapes import shape
from nonstrict.program.contracts.regions import outputs, unbacked
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.facts.library_calls import Called
    from nonstrict.program.state.frames import Frame

#: The ranks of variables that are being asked for.
Assumed: TypeAlias = "Mapping[str, int | None]"
NOTHING: Assumed = MappingProxyType({})


def rank(frame: Frame, expression: ast.expr, known: Assumed = NOTHING) -> int | None:
    """The number of dimensions of a tensor, 0 for a number; None where it is not known."""
    if isinstance(expression, ast.Name):
        return _of_name(frame, expression, known)
    if isinstance(expression, ast.BinOp):
        return _together(frame, [expression.left, expression.right], known)
    if isinstance(expression, ast.UnaryOp):
        return rank(frame, expression.operand, known)
    if isinstance(expression, ast.Compare):
        return _together(frame, [expression.left, *expression.comparators], known)
    if isinstance(expression, ast.Subscript):
        return _of_part(frame, expression, known)
    if isinstance(expression, ast.Call):
        return _of_call(frame, expression, known)
    return 0 if isinstance(expression, ast.Constant) else None


def _together(frame: Frame, operands: Sequence[ast.expr], known: Assumed) -> int | None:
    found = [rank(frame, operand, known) for operand in operands]
    told = [one for one in found if one is not None]
    return max(told) if len(told) == len(found) and told else None


def _of_name(frame: Frame, name: ast.Name, known: Assumed) -> int | None:
    """Of a variable that is bound several times, what it is bound to has to have the same rank each time."""
    if name.id in known:
        return known[name.id]
    if frame.machine.evaluate(frame, name).kind is Kind.NUMBER:
        return 0
    sizes = outputs.sizes(frame, name)
    if sizes is not None:
        return len(sizes)
    bound = unbacked.all_bound(frame, name.id)
    if not bound:
        return _of_unpacked(frame, name, known)
    before = (rank(frame, one, {**known, name.id: None}) for one in bound)
    found = next((one for one in before if one is not None), None)
    assumed = {**known, name.id: found}
    return found if all(rank(frame, one, assumed) == found for one in bound) else None


def _of_unpacked(frame: Frame, name: ast.Name, known: Assumed) -> int | None:
    """The rank of `places` in `values, places = x.max(0)`."""
    call = unbacked.unpacked_once(frame, name.id)
    if not isinstance(call, ast.Call):
        return None
    function = called(naming.names_at(frame), call)
    of = rank(frame, function.operand, known) if function.operand is not None else None
    operator = function.operator
    if of is None or operator is None or not operator.pairs:
        return None
    if not operator.dim:
        return of
    return None if _keeps(function, call) else max(of - 1, 0)


def _of_part(frame: Frame, part: ast.Subscript, known: Assumed) -> int | None:
    of = rank(frame, part.value, known)
    if of is None or isinstance(part.slice, (ast.Tuple, ast.Slice)):
        return of if isinstance(part.slice, ast.Slice) else None
    mask = bool(frame.machine.evaluate(frame, part.slice).flags & Flag.BOOLEAN)
    by = 1 if mask and of == 1 else rank(frame, part.slice, known)
    return None if by is None else max(of - by + 1 if mask else of - 1 + by, 0)


def _of_call(frame: Frame, call: ast.Call, known: Assumed) -> int | None:
    names = naming.names_at(frame)
    around = frame.function.node if frame.function is not None else None
    made = shape(names, around, call) if around is not None else None
    if made is not None:
        return len(made)
    function = called(names, call)
    if function.operand is None or function.library not in ("", "torch"):
        return None
    operator = function.operator
    if operator is None or operator.returns != "tensor":
        return None
    if operator.keeps_shape:
        return rank(frame, function.operand, known)
    if operator.pointwise:
        return _together(frame, [function.operand, *function.given], known)
    return _of_reduction(frame, call, function, known) if operator.reduces else None


def _of_reduction(frame: Frame, call: ast.Call, function: Called, known: Assumed) -> int | None:
    over = next((one.value for one in call.keywords if one.arg in ("dim", "axis")), next(iter(function.given), None))
    if over is None:
        return 0
    several = function.operator is not None and function.operator.pairs
    of = rank(frame, function.operand, known) if function.operand is not None else None
    if of is None or several or _keeps(function, call) or not _is_number(over):
        return None
    return max(of - 1, 0)


def _keeps(function: Called, call: ast.Call) -> bool:
    """Whether a reduction is told whether to keep the dimension."""
    at = function.operator.dim if function.operator is not None else 0
    return any(one.arg == "keepdim" for one in call.keywords) or len(function.given) > at


def _is_number(expression: ast.expr) -> bool:
    inner = expression.operand if isinstance(expression, ast.UnaryOp) else expression
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)
