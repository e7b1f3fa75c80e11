"""Pieces of a tensor of which the last is smaller: `for part in x.split(32)`, `x[i : i + 32]` in a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.reaching import source
from nonstrict.facts.shapes import shape
from nonstrict.program.interpret.loop_targets import loops_giving
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

_SPLIT, _CHUNK = "split", "chunk"
_RANGE, _MINIMUM = "builtins.range", "builtins.min"
_BOUNDS = 3


def has_smaller_last(frame: Frame, call: ast.AST, expression: ast.expr) -> bool:
    """Whether a call passes the pieces of a tensor of known size, which they do not divide."""
    made = source(naming.text_of(frame), expression)
    if isinstance(made, ast.Subscript) and isinstance(made.slice, ast.Slice):
        return _is_cut_unevenly(frame, call, made.value, made.slice)
    return any(_splits_unevenly(frame, loop.iterable) for loop in loops_giving(frame, call, expression))


def _splits_unevenly(frame: Frame, iterable: ast.expr) -> bool:
    """`x.split(32)` and `torch.chunk(x, 4)` along a dimension that this does not divide."""
    names, made = naming.names_at(frame), source(naming.text_of(frame), iterable)
    split = called(names, made) if isinstance(made, ast.Call) else None
    if split is None or not isinstance(made, ast.Call) or split.name not in (_SPLIT, _CHUNK) or split.operand is None:
        return False
    given = made.args if split.is_method else made.args[1:]
    along = [*given[1:2], *(one.value for one in made.keywords if one.arg == "dim")]
    number, dimension = _whole(frame, given[0]) if given else None, _whole(frame, along[0]) if along else 0
    size = _size(frame, split.operand, dimension) if dimension is not None else None
    if not number or size is None or number < 1:
        return False
    piece = number if split.name == _SPLIT else -(-size // number)
    return 0 < piece < size and size % piece != 0


def _is_cut_unevenly(frame: Frame, call: ast.AST, base: ast.expr, cut: ast.Slice) -> bool:
    """`x[i : i + 32]` where `i` goes on by 32 to an end that this does not come to."""
    counter, upper = cut.lower, cut.upper
    if not isinstance(counter, ast.Name) or upper is None or cut.step is not None:
        return False
    for loop in loops_giving(frame, call, counter):
        bounds = loop.iterable.args if isinstance(loop.iterable, ast.Call) else []
        named = naming.names_at(frame)(loop.iterable.func) if isinstance(loop.iterable, ast.Call) else ""
        if named != _RANGE or len(bounds) != _BOUNDS:
            continue
        begin, step = _whole(frame, bounds[0]), _whole(frame, bounds[2])
        end = _whole(frame, bounds[1]) or _size(frame, base, 0)
        if begin is None or end is None or not step or step < 1 or _reach(frame, counter, upper) != step:
            continue
        return step < end - begin and (end - begin) % step != 0
    return False


def _reach(frame: Frame, counter: ast.Name, upper: ast.expr) -> int | None:
    """How far a bound lies behind a variable: `i + 32`, `min(i + 32, n)`."""
    if isinstance(upper, ast.Call) and naming.names_at(frame)(upper.func) == _MINIMUM and upper.args:
        return next((one for part in upper.args if (one := _reach(frame, counter, part)) is not None), None)
    if not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add):
        return None
    own = isinstance(upper.left, ast.Name) and upper.left.id == counter.id
    return _whole(frame, upper.right) if own else None


def _size(frame: Frame, tensor: ast.expr, dimension: int) -> int | None:
    """The size of a tensor that the text makes, along a dimension."""
    sizes = shape(naming.names_at(frame), naming.text_of(frame), tensor)
    known = sizes is not None and -len(sizes) <= dimension < len(sizes)
    return _whole(frame, sizes[dimension]) if known and sizes is not None else None


def _whole(frame: Frame, number: ast.expr) -> int | None:
    known = frame.machine.evaluate(frame, number).const
    return known if isinstance(known, int) and not isinstance(known, bool) else None
