"""Sizes of tensors that follow from data: which symbols they are made with, and what operators leave of them.

`symbols` says how a symbol can be seen. What is not modelled leaves it in sight, so that nobody is accused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.events import Event
from nonstrict.program.domain import symbols
from nonstrict.program.domain.effects import Sight
from nonstrict.program.domain.values import NO_CONSTANT, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.domain.symbols import Taint

# -- sizes of tensors -----------------------------------------------------------------------------------------------

#: Functions of Python that take numbers as sizes, beside the operators of which the columns say so.
_TAKING = frozenset({"interpolate", "one_hot", "unflatten"})
_SPLITS = frozenset({"split", "split_with_sizes", "tensor_split", "chunk"})
_METHODS = "torch.Tensor."


def takes_sizes(operator: Operator, last: str) -> bool:
    """Whether an operator takes Python numbers as sizes."""
    return operator.sized or operator.takes_sizes or last in _TAKING


def sized(name: str, operator: Operator, positional: Sequence[Value], keywords: dict[str, Value]) -> Taint:
    """The symbols that a tensor has among its sizes because it was made with them."""
    last = name.rpartition(".")[2]
    of_tensor = name.startswith(_METHODS) or bool(positional and positional[0].is_tensor)
    given = list(positional[1:] if of_tensor else positional)
    named = [value for key, value in keywords.items() if key not in ("fill_value", "start", "step", "dim")]
    if last == "arange":
        return _arange(given, keywords)
    if operator.sized and not operator.spread:
        given, named = given[:1], [keywords[key] for key in ("size",) if key in keywords]
    if last == "narrow":
        named += [
            Value(Kind.NUMBER, taint=symbols.unchecked(symbols.of(one)))
            for one in (given[1:2] or [keywords.get("start")])
            if one
        ]
        given = given[2:]
    carried = frozenset[Any]()
    for index, value in enumerate(given):
        known = operator.spread
        carried |= symbols.at(symbols.of(value), index if known else None, index - len(given) if known else None)
        for position, part in _positions(value, known=operator.sized and not index):
            behind = None if position is None or value.heap is None else position - len(value.heap.items)
            carried |= symbols.at(symbols.of(part), position, behind)
    carried |= frozenset[Any]().union(*(symbols.along(symbols.held_in(value), None) for value in named))
    if last in _SPLITS:
        first = len(given) == 1 and "dim" not in keywords
        carried = symbols.along(carried, 0 if first else None)
        return frozenset(one._replace(sight=one.sight._replace(offset=True, split=True)) for one in carried)
    return carried


_ROWS = frozenset({"nonzero", "argwhere"})
#: What has one dimension unless it is told a dimension.
_FLAT = frozenset({"unique", "unique_consecutive", "repeat_interleave"})
_ALWAYS_FLAT = frozenset({"masked_select", "bincount"})


def made_by(last: str, given: Sequence[Value], keywords: dict[str, Value]) -> Sight:
    """Which dimension of a selection follows from data; positions stand in memory column by column."""
    dim = keywords.get("dim")
    if dim is not None:
        known = isinstance(dim.const, int) and dim.const >= 0
        return Sight(along=dim.const if known else None)
    if last in _ROWS and keywords.get("as_tuple") is None:
        return Sight(along=0, behind=-2, strided=True)
    flat = last in _ALWAYS_FLAT or (last in (_FLAT | _ROWS) and not given)
    return Sight(along=0, behind=-1 if flat else None)


def specialized(operator: Operator, given: Sequence[Value]) -> list[Value]:
    """The numbers of which torch has to know which they are: those that say how many tensors an operator makes."""
    return [value for value in given if value.kind is Kind.NUMBER] if operator.specializes else []


def _positions(value: Value, *, known: bool) -> list[tuple[int | None, Value]]:
    """The entries of a shape, each with the dimension whose size it is."""
    if value.heap is None or value.kind not in symbols.SEQUENCES:
        return []
    if value.heap.items and value.heap.loose is None:
        items = value.heap.items.items()
        return [(key if known and isinstance(key, int) else None, part) for key, part in items]
    return [(None, part) for part in (value.heap.loose, value.heap.element) if part is not None]


def _arange(given: list[Value], keywords: dict[str, Value]) -> Taint:
    """The size of `arange` is its end less its start."""
    if len(given) == 1 and not keywords.get("step"):
        return symbols.along(symbols.of(given[0]), 0)
    start = given[0] if len(given) > 1 else keywords.get("start", Value(Kind.NUMBER, const=0))
    end = given[1] if len(given) > 1 else keywords.get("end", given[0] if given else Value(Kind.NUMBER))
    step = given[2] if len(given) > 2 else keywords.get("step", Value(Kind.NUMBER, const=1))
    carried = symbols.arithmetic(ast.FloorDiv(), end, step) if symbols.of(end) else frozenset[Any]()
    less = symbols.arithmetic(ast.Sub(), end.with_taint(carried), start)
    return symbols.along((one for one in less if one.event is Event.ESCAPE), 0)


# -- what operators leave -------------------------------------------------------------------------------------------

_FLATTENING = frozenset({"flatten", "ravel", "view", "reshape"})
_MEAN = frozenset({"cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"})


def left(last: str, operator: Operator, values: Sequence[Value], keywords: dict[str, Value]) -> Taint:
    """What an operator leaves of the sizes of its arguments."""
    tensors = [value for value in values if value.is_tensor]
    if operator.keeps_shape and len(tensors) > 1:
        rest = frozenset[Any]().union(*(symbols.beside(value) for value in tensors))
        return fresh(tensors[0].taint if tensors else rest) | rest
    if last in ("cat", "concat", "concatenate", "stack") and values:
        return _joined(last, values, keywords)
    within = symbols.held_in(values[0]) if operator.joins and values else frozenset[Any]()
    taint = within.union(*(value.taint for value in tensors))
    if not taint:
        return taint
    carried = frozenset(one for one in taint if one.event is Event.ESCAPE)
    if (
        last in _FLATTENING
        and _folded(last, values) is not None
        and len({(one.key, one.sight.part) for one in carried if not one.sight.unchecked}) > 1
    ):
        return (taint - carried) | symbols.hidden(carried)
    if last == "t":
        return transposed(taint)
    if last in ("matmul", "mm", "inner") and len(tensors) > 1:
        other = tensors[1].with_taint(transposed(tensors[1].taint)) if last == "inner" else tensors[1]
        return product(tensors[0], other)
    if last == "masked_scatter":
        return elementwise(
            [value for value in values[:2] if value.is_tensor]
        )  # how many elements the source has does not matter
    if last in ("squeeze", "unsqueeze", "expand") and values:
        return (taint - carried) | _reshaped(last, carried, [*values[1:]], keywords)
    if last in _FLATTENING and (folded := _folded(last, values)) is not None:
        return (taint - carried) | symbols.at(_dense(carried), *folded)
    if operator.pointwise or operator.keeps_shape or operator.reduces:
        return elementwise(tensors)
    return (taint - carried) | symbols.along(carried, None)


def _reshaped(last: str, carried: Taint, given: list[Value], keywords: dict[str, Value]) -> Taint:
    """Sizes behind a dimension more or less."""
    if last == "expand":
        kept = [index for index, size in enumerate(given) if size.const == -1]
        return symbols.along(carried, kept[0] if len(kept) == 1 else None, last=kept == [len(given) - 1])
    dim = keywords.get("dim", given[0] if given else Value(Kind.NUMBER))
    return _inserted(carried, dim) if last == "unsqueeze" else _removed(carried, dim)


def _inserted(carried: Taint, dim: Value) -> Taint:
    """Sizes where a dimension is inserted before one."""
    if not isinstance(dim.const, int):
        return symbols.along(carried, None)
    return frozenset(one._replace(sight=_behind_inserted(one.sight, dim.const)) for one in carried)


def _behind_inserted(sight: Sight, dim: int) -> Sight:
    """What is seen of a size behind an inserted dimension."""
    before = _is_before(sight, dim, inserted=True)
    if before is None:
        return sight._replace(along=None, behind=None)
    if before:
        return sight._replace(along=None if sight.along is None else sight.along + 1)
    return sight._replace(behind=None if sight.behind is None else sight.behind - 1)


def _is_before(sight: Sight, dim: int, *, inserted: bool = False) -> bool | None:
    """Whether a dimension stands before the one that a symbol is the size of; None if that is not known."""
    if dim >= 0:
        return None if sight.along is None else dim < sight.along + inserted
    if dim == -1:
        return False
    return None if sight.behind is None else dim < sight.behind


def _removed(carried: Taint, dim: Value) -> Taint:
    """Sizes where a dimension of size one is taken out."""
    known = isinstance(dim.const, int) and not isinstance(dim.const, bool)
    carried = _dense(carried)
    if not known:
        return symbols.along(carried, None)
    return frozenset(one._replace(sight=behind_removed(one.sight, [int(dim.const)])) for one in carried)


def _dense(carried: Taint) -> Taint:
    """Sizes of which the strides tell nothing."""
    return frozenset(one._replace(sight=one.sight._replace(strided=False)) for one in carried)


def behind_removed(sight: Sight, dims: Sequence[object]) -> Sight:
    """What is seen of a size behind removed dimensions, none of which is its own."""
    before = [_is_before(sight, dim) if isinstance(dim, int) else None for dim in dims]
    if None in before or any(dim in (sight.along, sight.behind) for dim in dims):
        return sight._replace(along=None, behind=None)
    count = before.count(True)
    along = None if sight.along is None else sight.along - count
    return sight._replace(along=along, behind=None if sight.behind is None else sight.behind + len(before) - count)


def transposed(taint: Taint) -> Taint:
    """What the transpose of a matrix carries; a vector is its own."""
    swapped = {0: (1, -1), 1: (0, -2)}
    return frozenset(
        one._replace(
            sight=one.sight._replace(
                along=swapped.get(one.sight.along, (None, None))[0],
                behind=swapped.get(one.sight.along, (None, None))[1],
            )
        )
        if one.event is Event.ESCAPE and one.sight.along is not None and not _is_only(one.sight)
        else one
        for one in taint
    )


def _is_only(sight: Sight) -> bool:
    """Whether a size is that of the only dimension."""
    return (sight.along, sight.behind) == (0, -1)


def product(one: Value, other: Value) -> Taint:
    """What the product of two matrices carries: the size over which it sums is gone.

    What has a size along its first dimension alone, and the other has it there too, is a vector.
    """
    dimensions: dict[object, set[int | None]] = {}
    for symbol in symbols.of(one):
        dimensions.setdefault(symbol.symbol or symbol.key, set()).add(symbol.sight.along)
    vectors = {key for key, where in dimensions.items() if where == {0}}
    columns = {key for key, where in dimensions.items() if 1 in where} | vectors
    rows = {symbol.symbol or symbol.key for symbol in symbols.of(other) if symbol.sight.along == 0}
    summed = columns & rows
    outer = frozenset(
        symbol
        for symbol in symbols.of(one)
        if (symbol.symbol or symbol.key) not in (summed if symbol.sight.along == 1 else summed & vectors)
    )
    inner = frozenset(
        symbol for symbol in symbols.of(other) if symbol.sight.along != 0 or (symbol.symbol or symbol.key) not in summed
    )
    kept = frozenset(symbol for symbol in outer if symbol.sight.along == 0)
    return symbols.beside(one) | symbols.beside(other) | fresh(kept | symbols.along((outer - kept) | inner, None))


def spans(last: str, values: Sequence[Value], keywords: dict[str, Value]) -> bool:
    """Whether a loss is one number for all elements, which is what losses are unless they are asked for each."""
    asked = keywords.get("reduction")
    told = [value for value in values if value.kind is Kind.STRING] if asked is None else [asked]
    return all(one.const in ("mean", "sum") for one in told)


def is_loss(last: str) -> bool:
    """Whether an operator compares what is predicted with what is wanted."""
    return last.endswith("_loss") or last in _MEAN


def _folded(last: str, values: Sequence[Value]) -> tuple[int, int] | None:
    """The dimension, from the front and from the end, that takes what no other does: all of the others are numbers."""
    given = values[1:]
    if last in ("flatten", "ravel"):
        return None if given else (0, -1)
    sizes = [value.const for value in given]
    if sizes.count(-1) != 1 or not all(isinstance(size, int) for size in sizes):
        return None
    return sizes.index(-1), sizes.index(-1) - len(sizes)


def fresh(taint: Taint) -> Taint:
    """What a new tensor takes over: it begins where its memory does."""
    cut = frozenset(one for one in taint if one.event is Event.ESCAPE and _is_of_memory(one.sight))
    if not cut:
        return taint
    new = frozenset(one._replace(sight=_anew(one.sight)) for one in cut)
    return (taint - cut) | new


def _is_of_memory(sight: Sight) -> bool:
    return sight.offset or sight.strided or sight.start


def _anew(sight: Sight) -> Sight:
    """What is seen of a size in a copy."""
    return sight._replace(lost=True, start=False) if sight.start else sight._replace(offset=False, strided=False)


def elementwise(values: Sequence[Value]) -> Taint:
    """What an elementwise result carries: with another tensor, a dimension may be counted anew."""
    tensors = [value for value in values if value.is_tensor]
    taint = fresh(frozenset[Any]().union(*(value.taint for value in tensors)))
    if len(tensors) < 2 or not taint:
        return taint
    made = frozenset(one for one in taint if one.event is Event.ESCAPE and one.how in symbols.NUMBERS)
    return (taint - made) | symbols.along(made, None) if made else taint


def reduced(taint: Taint, over: Value | None, kept: Value = UNKNOWN) -> Taint:
    """What a reduction leaves: nothing if it is over everything, else the sizes of other dimensions.

    `kept` says whether the dimensions stay, with size one.
    """
    carried = frozenset(one for one in taint if one.event is Event.ESCAPE)
    if over is None or (over.const is None and over.kind is Kind.NONE):
        return taint - carried
    dims = [one.const for one in (over.heap.items.values() if over.heap is not None else [over])]
    left_over = frozenset(one for one in carried if not _is_among(one.sight, dims))
    if kept.const is False:
        left_over = frozenset(one._replace(sight=behind_removed(one.sight, dims)) for one in left_over)
    elif kept.const is not True:
        left_over = symbols.along(left_over, None)
    return (taint - carried) | left_over


def _is_among(sight: Sight, dims: Sequence[object]) -> bool:
    """Whether the dimension that a symbol is the size of is one of some."""
    return any(dim is not None and dim in (sight.along, sight.behind) for dim in dims)


def rows(tensor: Value) -> Taint:
    """The symbols that surely are the size of the first dimension."""
    return frozenset(one for one in symbols.of(tensor) if one.sight.along == 0)


def dimension(taint: Taint, asked: Value) -> Taint:
    """What the size of one dimension carries."""
    taint = fresh(taint)
    if asked.const is NO_CONSTANT or not isinstance(asked.const, int) or asked.const < 0:
        return taint
    return frozenset(one for one in taint if one.event is not Event.ESCAPE or one.sight.along in (None, asked.const))


def _joined(last: str, values: Sequence[Value], keywords: dict[str, Value]) -> Taint:
    """What several tensors carry that become one."""
    given = values[0]
    heap = given.heap
    if heap is None:
        return fresh(given.taint)
    dim = keywords.get("dim", values[1] if len(values) > 1 and not values[1].is_tensor else Value(Kind.NUMBER, const=0))
    parts = list(heap.items.values())
    each = not (heap.unsure or heap.open or heap.loose is not None) and bool(parts)
    parts = parts if each else [one for one in (heap.element, heap.loose) if one is not None]
    taint = fresh(given.taint.union(*(one.taint for one in parts)))
    carried = frozenset(one for one in taint if one.event is Event.ESCAPE)
    if last == "stack":
        return (taint - carried) | _inserted(carried, dim)
    added = frozenset(one for one in carried if one.sight.along == dim.const and isinstance(dim.const, int))
    unknown = frozenset(one for one in carried if one.sight.along is None and dim.const == 0 and one.sight.split)
    if each:
        kinds = {frozenset((one.symbol or one.key, one.sight.part) for one in symbols.of(part)) for part in parts}
        sure = all(part.is_tensor for part in parts)
        if len(parts) == 1 or not sure or (len(kinds) == 1 and len(next(iter(kinds))) == 1 and not unknown):
            return taint
        return (taint - added - unknown) | symbols.hidden(added | unknown)
    several = (
        frozenset(one for one in added if (one.sight.each and one.sight.part is None) or one.sight.split) | unknown
    )
    return (taint - several) | symbols.hidden(several)
