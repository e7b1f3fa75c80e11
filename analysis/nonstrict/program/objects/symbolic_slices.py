"""Parts of tensors that subscripts take: what is left of the sizes that follow from data, and which new ones there are.

A slice whose bound follows from data has a size of its own: torch makes another symbol, as the bound may be negative,
and one for where the slice begins. Both have to be seen in what the marked function returns, as the bound itself has
(torch/_subclasses/fake_impls.py, `slice_forward`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.program.domain import symbols
from nonstrict.program.domain.effects import Sight
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects.symbolic_sizes import behind_removed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.symbols import Taint
    from nonstrict.program.state.frames import Frame

_SIZE = "the size of a slice bounded by {}"
_START = "the start of a slice bounded by {}"
_POSITION = "indexing with the result of {}"


class _Where(NamedTuple):
    """Where an index stands: the dimension that it is applied to, from the front and, behind `...`, from the end.

    `made` is the dimension of what it leaves there.
    """

    node: ast.expr
    value: Value
    along: int | None
    behind: int | None
    made: int | None


def selected(frame: Frame, node: ast.expr, base: Value, parts: Sequence[Value]) -> Taint:
    """What a subscript leaves of the sizes of a tensor, and what the bounds of its slices make."""
    carried = symbols.of(base)
    indices = _placed(node, parts)
    bounds = frozenset[Any]().union(*(_sliced(frame, one) for one in indices if isinstance(one.node, ast.Slice)))
    left_over: set[Effect] = set()
    for one in carried:
        left_over |= _left(one, indices)
    return symbols.beside(base) | left_over | bounds


def stored(frame: Frame, node: ast.expr, index: Value) -> None:
    """A store into a part of a tensor: the symbols of that part cannot be seen anywhere."""
    parts = list(index.heap.items.values()) if index.kind is Kind.TUPLE and index.heap is not None else [index]
    for one in _placed(node, parts):
        if isinstance(one.node, ast.Slice):
            _sliced(frame, one)
        elif one.value.kind is Kind.NUMBER and (numbers := _numbers(symbols.of(one.value))):
            _made(frame, one.node, _POSITION, numbers, Sight(start=True))


def _placed(node: ast.expr, parts: Sequence[Value]) -> list[_Where]:
    """The indices of a subscript, each with its dimension; up to the first that counts the dimensions anew."""
    indices = node.elts if isinstance(node, ast.Tuple) else [node]
    values = parts if len(parts) == len(indices) else [Value(Kind.UNKNOWN)] * len(indices)
    dots = next((at for at, one in enumerate(indices) if is_ellipsis(one)), len(indices))
    found: list[_Where] = []
    along = made = 0
    for index, value in zip(indices[:dots], values[:dots], strict=True):
        if value.kind is Kind.NONE:
            made += 1
            found.append(_Where(index, value, along, None, made))
            continue
        found.append(_Where(index, value, along, None, made))
        if not isinstance(index, ast.Slice) and value.kind is not Kind.NUMBER:
            return found
        along += 1
        made += isinstance(index, ast.Slice)
    behind = list(zip(indices[dots + 1 :], values[dots + 1 :], strict=True))
    if behind and all(isinstance(index, ast.Slice) for index, _ in behind):
        found += [_Where(*one, None, at - len(behind), None) for at, one in enumerate(behind)]
    elif behind:
        found.append(_Where(behind[0][0], Value(Kind.UNKNOWN), None, None, None))
    return found


def is_ellipsis(node: ast.expr | None) -> bool:
    """Whether an index is `...`."""
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _left(one: Effect, indices: Sequence[_Where]) -> Taint:
    """What is left of one symbol behind the indices of a subscript."""
    sight = one.sight
    removed: list[object] = []
    added = 0
    for where in indices:
        here = where.along is not None and where.along == sight.along
        here = here or (where.behind is not None and where.behind == sight.behind)
        if where.value.kind is Kind.NONE:
            if sight.along is None or where.along is None:
                return symbols.along([one], None)
            added += where.along <= sight.along
            sight = sight if where.along <= sight.along else sight._replace(behind=_less(sight.behind))
        elif isinstance(where.node, ast.Slice):
            if here and (where.node.lower or where.node.upper or where.node.step):
                return symbols.hidden([one]) if sight.hidden or sight.added else symbols.lost([one])
        elif where.value.kind is Kind.NUMBER:
            if here:
                return symbols.along([one] if sight.strided else [], None)
            removed.append(where.along)
        else:
            gone = where.value.is_tensor and where.along == 0 and sight.along == 0
            return symbols.along([one] if sight.strided or not gone else [], None)
    if removed:
        sight = behind_removed(sight._replace(strided=False), removed)
    along = None if sight.along is None else sight.along + added
    return frozenset([one._replace(sight=sight._replace(along=along))])


def _less(behind: int | None) -> int | None:
    return None if behind is None else behind - 1


def _sliced(frame: Frame, where: _Where) -> Taint:
    """The symbols of a slice: those of its bounds, where they lie within the size, and else new ones."""
    bounds = where.node
    if not isinstance(bounds, ast.Slice):
        return frozenset()
    step = frame.machine.evaluate(frame, bounds.step) if bounds.step is not None else Value(Kind.NUMBER, const=1)
    frame.needed(step.with_taint(frozenset(one for one in symbols.of(step) if not symbols.is_input(one))))
    lower, upper = _bound(frame, bounds.lower), _bound(frame, bounds.upper)
    bare = bounds.lower is None or frame.machine.evaluate(frame, bounds.lower).const == 0
    sized = symbols.at(upper, where.made, where.behind)
    if not bare or step.const != 1:
        sized = symbols.hidden(sized)
    begins = frozenset(one._replace(sight=one.sight._replace(start=one.sight.is_shown)) for one in lower)
    numbers = _numbers(upper | lower)
    taint = frozenset(
        one if one.how not in symbols.NUMBERS else one._replace(sight=one.sight._replace(unchecked=True))
        for one in sized | begins
    )
    if numbers:
        taint |= _made(frame, bounds, _SIZE, numbers, Sight(along=where.made, behind=where.behind))
    if numbers & lower:
        taint |= _made(frame, bounds, _START, numbers & lower, Sight(start=True))
    return taint


def _numbers(taint: Taint) -> Taint:
    """The numbers taken out of tensors that torch does not know to be inputs: they may be negative."""
    return frozenset(one for one in taint if one.how in symbols.NUMBERS and not symbols.is_input(one))


def _bound(frame: Frame, bound: ast.expr | None) -> Taint:
    return frozenset() if bound is None else symbols.of(frame.machine.evaluate(frame, bound))


def _made(frame: Frame, node: ast.AST, what: str, numbers: Taint, sight: Sight) -> Taint:
    """A symbol that torch makes, unless it knows that the numbers are not negative."""
    first = min(numbers, key=lambda one: (one.path, one.span.line, one.span.column, one.what))
    tensor = first.value.at(first.place)
    made = frame.unbacked(node, tensor, what.format(first.what), sight=sight).taint
    for one in made:
        frame.summary.bounded[one.key] = frozenset(number.key for number in numbers)
    return made


def by_positions(positions: Value, dimension: int | None) -> Taint:
    """What a tensor carries whose elements were chosen by a tensor of positions, along a dimension."""
    carried = symbols.of(positions)
    chosen = frozenset(
        one._replace(
            sight=one.sight._replace(
                along=None if dimension is None or one.sight.along is None else one.sight.along + dimension,
                behind=None,
                strided=False,
            )
        )
        for one in carried
    )
    return (positions.taint - carried) | chosen


def mask_dimension(node: ast.expr, position: int) -> int | None:
    """The dimension along which a mask selects, where only slices stand before it."""
    if not isinstance(node, ast.Tuple):
        return 0
    before = node.elts[:position]
    return position if all(isinstance(one, ast.Slice) for one in before) else None
