"""Unbacked symbols: numbers and sizes that follow from data, and where they can still be seen.

torch makes a symbol for each number that it takes out of a tensor, and for each size that data decides. It looks for
the symbol in what the marked function returns: as a number, a size, a stride or an offset, by itself or times a
constant. A sum of two is none of these: `PendingUnbackedSymbolNotFound` (torch/fx/experimental/symbolic_shapes.py).

A value carries its symbols as pending effects; the `sight` of each says how it can be seen there. What is not modelled
leaves a symbol in sight, so that nobody is accused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.program.effects import Event
from nonstrict.program.places import Origin
from nonstrict.program.values import NO_CONSTANT, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.program.effects import Effect
    from nonstrict.program.frames import Frame

Pending = frozenset[Any]

_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE, Kind.SIZE})
_LINEAR = (ast.Add, ast.Sub)
_DIVISIONS = (ast.FloorDiv, ast.Div, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
_LISTED = "`tolist()`"
_NUMBERS = frozenset({"`item()`", _LISTED})

# -- what a value carries -------------------------------------------------------------------------------------------


def of(value: Value) -> Pending:
    """The symbols that a value carries."""
    if not value.pending:
        return value.pending
    return frozenset(effect for effect in value.pending if effect.event is Event.ESCAPE)


def held_in(value: Value) -> Pending:
    """The symbols that a value, or what a new container holds, carries."""
    heap = value.heap
    if heap is None or value.kind not in _SEQUENCES:
        return of(value)
    held = [*heap.items.values(), *([heap.loose] if heap.loose is not None else [])]
    held = held or ([heap.element] if heap.element is not None else [])
    return of(value).union(*(of(one) for one in held))


def beside(value: Value) -> Pending:
    """What a value carries that is no symbol."""
    return value.pending - of(value) if value.pending else value.pending


def is_input(effect: Effect) -> bool:
    """Whether a number may be an input of the graph: torch knows the number in an integer that a region is given."""
    place = effect.place
    return effect.what == "`item()`" and place.origin is Origin.ARGUMENT and not place.is_view


def hidden(symbols: Iterable[Effect]) -> Pending:
    """Symbols behind arithmetic: what is computed from a hidden one may be the symbol again."""
    return frozenset(
        one if is_input(one) else one._replace(sight=one.sight._replace(hidden=not one.sight.hidden)) for one in symbols
    )


def unchecked(symbols: Iterable[Effect]) -> Pending:
    """Symbols that bound a slice: torch makes a new one, unless `torch._check` says that they lie within the size."""
    return frozenset(one._replace(sight=one.sight._replace(unchecked=True)) for one in symbols)


def _along(symbols: Iterable[Effect], dimension: int | None) -> Pending:
    return frozenset(one._replace(sight=one.sight._replace(along=dimension)) for one in symbols)


# -- numbers --------------------------------------------------------------------------------------------------------


def arithmetic(operator: ast.operator, left: Value, right: Value) -> Pending:
    """What numbers carry after arithmetic: a symbol is known by itself and times a constant."""
    one, other = of(left), of(right)
    rest = beside(left) | beside(right)
    if not one and not other:
        return rest
    if one and other:
        return rest | ((one | other) if _is_multiple(operator, one, other) else hidden(one | other))
    symbols = one or other
    return rest | (symbols if _keeps(operator, symbols, right if one else left) else hidden(symbols))


def _is_multiple(operator: ast.operator, one: Pending, other: Pending) -> bool:
    """Whether two numbers that carry symbols are one symbol, added to itself."""
    if not isinstance(operator, _LINEAR) or len(one) != 1 or one != other:
        return False
    return all(effect.what != _LISTED or effect.sight.part is not None for effect in one)


def _keeps(operator: ast.operator, symbols: Pending, by: Value) -> bool:
    """Whether a symbol can be told after arithmetic with a number that carries none."""
    known = isinstance(by.const, (int, float))
    sized = bool(by.flags & Flag.SHAPE)
    if isinstance(operator, _LINEAR):
        return not sized if not known else not by.const
    if isinstance(operator, ast.Mult):
        whole = not any(effect.value.flags & Flag.FLOATING for effect in symbols)
        return by.const == 1 or (whole and not isinstance(by.const, float))
    return known and by.const == 1 if isinstance(operator, _DIVISIONS) else True


def compared(pending: Pending) -> Pending:
    """What the truth value of a comparison carries."""
    symbols = frozenset(one for one in pending if one.event is Event.ESCAPE)
    shown = frozenset(one for one in symbols if one.sight.hidden or is_input(one))
    return (pending - symbols) | shown | hidden(symbols - shown)


def negated(value: Value) -> Pending:
    """What a number carries behind a minus sign."""
    return arithmetic(ast.Mult(), value, Value(Kind.NUMBER, const=-1))


def added_up(pending: Pending) -> Pending:
    """What the sum of a list of numbers carries: several symbols make a sum of symbols."""
    listed = frozenset(one for one in pending if one.event is Event.ESCAPE and one.what == _LISTED)
    return (pending - listed) | hidden(listed)


# -- parts ----------------------------------------------------------------------------------------------------------


def entry(part: Value, whole: Value, key: object, count: int = 0) -> Pending:
    """What the entry at a position carries of a list that has a symbol for each entry.

    `count` is how many entries there are, where that is known. Counted from the end, an entry is not told apart.
    """
    pending = part.pending
    if not isinstance(key, int) or isinstance(key, bool) or key < 0:
        return pending
    listed = frozenset(one for one in of(whole) if one.what == _LISTED and one.sight.part is None) & pending
    if not listed:
        return pending
    return (pending - listed) | frozenset(one._replace(sight=one.sight._replace(part=(key, count))) for one in listed)


# -- sizes of tensors -----------------------------------------------------------------------------------------------

#: Makers of tensors whose arguments are the sizes, one after the other.
_SHAPED = frozenset({"zeros", "ones", "empty", "rand", "randn", "new_zeros", "new_ones", "new_empty"})
_FILLED = frozenset({"full", "new_full"})
_SPLITS = frozenset({"split", "split_with_sizes", "tensor_split", "chunk"})
#: Operators that take Python numbers as sizes: such a number may depend on data.
SIZED = frozenset(
    {
        *_SHAPED,
        *_FILLED,
        *_SPLITS,
        "arange",
        "as_strided",
        "broadcast_to",
        "expand",
        "eye",
        "interpolate",
        "linspace",
        "narrow",
        "one_hot",
        "randint",
        "randperm",
        "repeat",
        "repeat_interleave",
        "reshape",
        "tile",
        "topk",
        "unflatten",
        "unfold",
        "view",
    }
)
#: Operators that make as many tensors, or numbers, as a number says.
_COUNTED = frozenset({"split", "chunk", "tensor_split", "linspace"})
_METHODS = "torch.Tensor."


def sized(name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Pending:
    """The symbols that a tensor has among its sizes because it was made with them."""
    last = name.rpartition(".")[2]
    of_tensor = name.startswith(_METHODS) or bool(positional and positional[0].is_tensor)
    given = list(positional[1:] if of_tensor else positional)
    named = [value for key, value in keywords.items() if key not in ("fill_value", "start", "step", "dim")]
    if last == "arange":
        return _arange(given, keywords)
    if last in _FILLED:
        given, named = given[:1], [keywords[key] for key in ("size",) if key in keywords]
    if last == "narrow":
        named += [
            Value(Kind.NUMBER, pending=unchecked(of(one))) for one in (given[1:2] or [keywords.get("start")]) if one
        ]
        given = given[2:]
    symbols = frozenset[Any]()
    for index, value in enumerate(given):
        symbols |= _along(of(value), index if last in _SHAPED else None)
        for position, part in _positions(value, known=last in (_SHAPED | _FILLED) and not index):
            symbols |= _along(of(part), position)
    symbols |= frozenset[Any]().union(*(_along(held_in(value), None) for value in named))
    if last in _SPLITS:
        first = len(given) == 1 and "dim" not in keywords
        symbols = _along(symbols, 0 if first else None)
        return frozenset(one._replace(sight=one.sight._replace(offset=True, split=True)) for one in symbols)
    return symbols


def counts(name: str, positional: Sequence[Value]) -> list[Value]:
    """The arguments of an operator that say how many tensors or numbers it makes: torch has to know how many."""
    last = name.rpartition(".")[2]
    return [value for value in positional if value.kind is Kind.NUMBER] if last in _COUNTED else []


def _positions(value: Value, *, known: bool) -> list[tuple[int | None, Value]]:
    """The entries of a shape, each with the dimension whose size it is."""
    if value.heap is None or value.kind not in _SEQUENCES:
        return []
    if value.heap.items and value.heap.loose is None:
        items = value.heap.items.items()
        return [(key if known and isinstance(key, int) else None, part) for key, part in items]
    return [(None, part) for part in (value.heap.loose, value.heap.element) if part is not None]


def _arange(given: list[Value], keywords: dict[str, Value]) -> Pending:
    """The size of `arange` is its end less its start."""
    if len(given) == 1 and not keywords.get("step"):
        return _along(of(given[0]), 0)
    start = given[0] if len(given) > 1 else keywords.get("start", Value(Kind.NUMBER, const=0))
    end = given[1] if len(given) > 1 else keywords.get("end", given[0] if given else Value(Kind.NUMBER))
    step = given[2] if len(given) > 2 else keywords.get("step", Value(Kind.NUMBER, const=1))
    symbols = arithmetic(ast.FloorDiv(), end, step) if of(end) else frozenset[Any]()
    less = arithmetic(ast.Sub(), end.with_pending(symbols), start)
    return _along((one for one in less if one.event is Event.ESCAPE), 0)


# -- what operators leave -------------------------------------------------------------------------------------------

_RESHAPING = frozenset(
    {
        "transpose",
        "permute",
        "view",
        "view_as",
        "reshape",
        "flatten",
        "ravel",
        "squeeze",
        "unsqueeze",
        "movedim",
        "swapaxes",
        "swapdims",
        "expand",
        "expand_as",
        "repeat",
        "tile",
        "unflatten",
        "rot90",
        "unfold",
        "adjoint",
        "kron",
        "outer",
        "meshgrid",
        "bmm",
        "einsum",
        "tensordot",
        "broadcast_to",
    }
)
_FLATTENING = frozenset({"flatten", "ravel", "view", "reshape"})
#: Operators whose result is as large as their first argument, whatever the others are.
_AS_FIRST = frozenset(
    {
        "index_add",
        "index_copy",
        "index_fill",
        "index_put",
        "masked_fill",
        "masked_scatter",
        "scatter",
        "scatter_add",
        "scatter_reduce",
        "slice_scatter",
        "select_scatter",
    }
)
_MEAN = frozenset({"cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"})
_DOTS = frozenset({"dot", "vdot", "inner", "std", "var", "norm", "vector_norm", "dist", "trace", "det"})


def left(last: str, values: Sequence[Value], keywords: dict[str, Value]) -> Pending:
    """What an operator leaves of the sizes of its arguments."""
    tensors = [value for value in values if value.is_tensor]
    if last in _AS_FIRST:
        rest = frozenset[Any]().union(*(beside(value) for value in tensors))
        return fresh(tensors[0].pending if tensors else rest) | rest
    if last in ("cat", "concat", "concatenate", "stack") and values:
        return _joined(last, values, keywords)
    pending = frozenset[Any]().union(*(value.pending for value in tensors))
    if not pending:
        return pending
    symbols = frozenset(one for one in pending if one.event is Event.ESCAPE)
    if last in _FLATTENING and _becomes_one(last, values) and len({(one.key, one.sight.part) for one in symbols}) > 1:
        return (pending - symbols) | hidden(symbols)
    if last in _DOTS and not (keywords.keys() & {"dim", "axis"} or _numbers(values)):
        return pending - symbols
    if last == "t":
        return transposed(pending)
    if last in ("matmul", "mm"):
        return product(*tensors[:2]) if len(tensors) > 1 else pending
    if last in _RESHAPING:
        return (pending - symbols) | _along(symbols, None)
    return elementwise(tensors)


def transposed(pending: Pending) -> Pending:
    """What the transpose of a matrix carries."""
    swapped = {0: 1, 1: 0}
    return frozenset(
        one._replace(sight=one.sight._replace(along=swapped.get(one.sight.along)))
        if one.event is Event.ESCAPE and one.sight.along is not None
        else one
        for one in pending
    )


def product(one: Value, other: Value) -> Pending:
    """What the product of two matrices carries: the size over which it sums is gone."""
    columns = {symbol.symbol or symbol.key for symbol in of(one) if symbol.sight.along == 1}
    rows = {symbol.symbol or symbol.key for symbol in of(other) if symbol.sight.along == 0}
    summed = columns & rows
    outer = frozenset(
        symbol for symbol in of(one) if symbol.sight.along != 1 or (symbol.symbol or symbol.key) not in summed
    )
    inner = frozenset(
        symbol for symbol in of(other) if symbol.sight.along != 0 or (symbol.symbol or symbol.key) not in summed
    )
    kept = frozenset(symbol for symbol in outer if symbol.sight.along == 0)
    return beside(one) | beside(other) | fresh(kept | _along((outer - kept) | inner, None))


def _numbers(values: Sequence[Value]) -> list[Value]:
    return [value for value in values if not value.is_tensor]


def spans(last: str, values: Sequence[Value], keywords: dict[str, Value]) -> bool:
    """Whether a loss is one number for all elements, which is what losses are unless they are asked for each."""
    asked = keywords.get("reduction")
    told = [value for value in values if value.kind is Kind.STRING] if asked is None else [asked]
    return all(one.const in ("mean", "sum") for one in told)


def is_loss(last: str) -> bool:
    """Whether an operator compares what is predicted with what is wanted."""
    return last.endswith("_loss") or last in _MEAN


def _becomes_one(last: str, values: Sequence[Value]) -> bool:
    """Whether all dimensions become one, whose size is their product."""
    given = values[1:]
    return not given if last in ("flatten", "ravel") else len(given) == 1 and given[0].const == -1


def fresh(pending: Pending) -> Pending:
    """What a new tensor takes over: it begins where its memory does."""
    if not any(one.event is Event.ESCAPE and one.sight.offset for one in pending):
        return pending
    cut = frozenset(one for one in pending if one.event is Event.ESCAPE and one.sight.offset)
    return (pending - cut) | frozenset(one._replace(sight=one.sight._replace(offset=False)) for one in cut)


def elementwise(values: Sequence[Value]) -> Pending:
    """What an elementwise result carries: with another tensor, a dimension may be counted anew."""
    tensors = [value for value in values if value.is_tensor]
    pending = fresh(frozenset[Any]().union(*(value.pending for value in tensors)))
    if len(tensors) < 2 or not pending:
        return pending
    made = frozenset(one for one in pending if one.event is Event.ESCAPE and one.what in _NUMBERS)
    return (pending - made) | _along(made, None) if made else pending


def reduced(pending: Pending, over: Value | None) -> Pending:
    """What a reduction leaves: nothing if it is over everything, else the sizes of other dimensions."""
    symbols = frozenset(one for one in pending if one.event is Event.ESCAPE)
    if over is None or (over.const is None and over.kind is Kind.NONE):
        return pending - symbols
    dims = over.heap.items.values() if over.heap is not None else [over]
    known = {one.const for one in dims}
    return pending - frozenset(one for one in symbols if one.sight.along is not None and one.sight.along in known)


def dimension(pending: Pending, asked: Value) -> Pending:
    """What the size of one dimension carries."""
    if asked.const is NO_CONSTANT or not isinstance(asked.const, int) or asked.const < 0:
        return pending
    return frozenset(one for one in pending if one.event is not Event.ESCAPE or one.sight.along in (None, asked.const))


def _joined(last: str, values: Sequence[Value], keywords: dict[str, Value]) -> Pending:
    """What several tensors carry that become one."""
    given = values[0]
    heap = given.heap
    if heap is None:
        return fresh(given.pending)
    dim = keywords.get("dim", values[1] if len(values) > 1 and not values[1].is_tensor else Value(Kind.NUMBER, const=0))
    parts = list(heap.items.values())
    each = not (heap.unsure or heap.open or heap.loose is not None) and bool(parts)
    parts = parts if each else [one for one in (heap.element, heap.loose) if one is not None]
    pending = fresh(given.pending.union(*(one.pending for one in parts)))
    symbols = frozenset(one for one in pending if one.event is Event.ESCAPE)
    if last == "stack":
        return (pending - symbols) | _along(symbols, None)
    added = frozenset(one for one in symbols if one.sight.along == dim.const and isinstance(dim.const, int))
    unknown = frozenset(one for one in symbols if one.sight.along is None and dim.const == 0 and one.sight.split)
    if each:
        kinds = {frozenset((one.symbol or one.key, one.sight.part) for one in of(part)) for part in parts}
        sure = all(part.is_tensor for part in parts)
        if len(parts) == 1 or not sure or (len(kinds) == 1 and len(next(iter(kinds))) == 1 and not unknown):
            return pending
        return (pending - added - unknown) | hidden(added | unknown)
    several = frozenset(one for one in added if one.what == _LISTED and one.sight.part is None) | unknown
    return (pending - several) | hidden(several)


def selected(frame: Frame, node: ast.expr, base: Value, parts: Sequence[Value]) -> Pending:
    """What a subscript leaves of the sizes of a tensor, and the numbers that bound its slices."""
    pending = base.pending
    indices = node.elts if isinstance(node, ast.Tuple) else [node]
    symbols = frozenset(one for one in pending if one.event is Event.ESCAPE)
    rest = pending - symbols
    counted = True
    gone: set[int] = set()
    cut: set[int] = set()
    bounds = frozenset[Any]()
    for position, index in enumerate(indices):
        value = parts[position] if len(parts) == len(indices) else Value(Kind.UNKNOWN)
        if isinstance(index, ast.Slice):
            bounds |= _bounds(frame, index)
            if any(one is not None for one in (index.lower, index.upper, index.step)):
                cut.add(position)
        elif value.kind is Kind.NUMBER:
            gone.add(position)
        else:
            counted = False
            if value.is_tensor and not position:
                gone.add(0)  # a tensor of positions, or a mask, has a size of its own
            break
    left_over: set[Effect] = set()
    for one in symbols:
        along = one.sight.along
        if along in gone:
            continue
        if along in cut:
            left_over |= hidden([one])
        elif along is None or not counted:
            left_over |= _along([one], None)
        else:
            left_over |= _along([one], along - sum(position < along for position in gone))
    return rest | left_over | bounds


def _bounds(frame: Frame, bounds: ast.Slice) -> Pending:
    pending = frozenset[Any]()
    for bound in (bounds.lower, bounds.upper):
        if bound is not None:
            value = frame.machine.evaluate(frame, bound)
            plain = frozenset(one for one in of(value) if one.what in _NUMBERS)
            pending |= unchecked(plain) | (of(value) - plain)
    return pending


def mask_dimension(node: ast.expr, position: int) -> int | None:
    """The dimension along which a mask selects, where only slices stand before it."""
    if not isinstance(node, ast.Tuple):
        return 0
    before = node.elts[:position]
    return position if all(isinstance(one, ast.Slice) for one in before) else None
