"""Unbacked symbols: numbers and sizes that follow from data, and where they can still be seen.

torch makes a symbol for each number that it takes out of a tensor, and for each size that data decides. It looks for
the symbol in what the marked function returns: as a number, a size, a stride or an offset, by itself or times a
constant. A sum of two is none of these: `PendingUnbackedSymbolNotFound` (torch/fx/experimental/symbolic_shapes.py).

A value carries its symbols as taint; the `sight` of each says how it can be seen there. What is not modelled
leaves a symbol in sight, so that nobody is accused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.events import Event, Taken
from nonstrict.facts.walk import walk
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import CONTAINERS, NESTED_CONTAINERS, AbstractObject, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.domain.effects import Effect, Sight

Taint = frozenset[Any]

SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE, Kind.SIZE})
_SIZES = frozenset({Kind.NUMBER, Kind.SIZE})
_LINEAR = (ast.Add, ast.Sub)
_DIVISIONS = (ast.FloorDiv, ast.Div, ast.Mod, ast.Pow, ast.LShift, ast.RShift)

NUMBERS = frozenset({Taken.ITEM, Taken.LIST})

# -- what a value carries -------------------------------------------------------------------------------------------


def of(value: Value) -> Taint:
    """The symbols that a value carries."""
    if not value.taint:
        return value.taint
    return frozenset(effect for effect in value.taint if effect.event is Event.ESCAPE)


def held_in(value: Value) -> Taint:
    """The symbols that a value, or what a new container holds, carries."""
    heap = value.heap
    if heap is None or value.kind not in SEQUENCES:
        return of(value)
    held = [*heap.items.values(), *([heap.loose] if heap.loose is not None else [])]
    held = held or ([heap.element] if heap.element is not None else [])
    return of(value).union(*(of(one) for one in held))


def beside(value: Value) -> Taint:
    """What a value carries that is no symbol."""
    return value.taint - of(value) if value.taint else value.taint


def forget(held: AbstractObject, depth: int = 0) -> None:
    """An object was made outside compiled code: what it and its containers hold are numbers, and no symbols."""
    held.attributes = {name: value.with_taint(beside(value)) for name, value in held.attributes.items()}
    held.items = {key: value.with_taint(beside(value)) for key, value in held.items.items()}
    held.element = held.element.with_taint(beside(held.element)) if held.element is not None else None
    held.loose = held.loose.with_taint(beside(held.loose)) if held.loose is not None else None
    inside = (*held.attributes.values(), *held.items.values(), *([held.element] if held.element is not None else []))
    for value in inside if depth < NESTED_CONTAINERS else ():
        if value.kind in CONTAINERS and value.heap is not None:
            forget(value.heap, depth + 1)


def is_input(effect: Effect) -> bool:
    """Whether a number may be an input of the graph: torch knows the number in an integer that a region is given."""
    place = effect.place
    return effect.how is Taken.ITEM and place.root is Root.ARGUMENT and not place.is_view


def hidden(symbols: Iterable[Effect]) -> Taint:
    """Symbols behind arithmetic: what is computed from a hidden one may be the symbol again."""
    return frozenset(
        one if is_input(one) else one._replace(sight=one.sight._replace(hidden=not one.sight.hidden)) for one in symbols
    )


def lost(symbols: Iterable[Effect]) -> Taint:
    """Symbols behind what cannot be undone: a quotient with a remainder, a rounding, an answer."""
    return frozenset(one if is_input(one) else one._replace(sight=one.sight._replace(lost=True)) for one in symbols)


def unchecked(symbols: Iterable[Effect]) -> Taint:
    """Symbols that bound a slice: torch makes a new one, unless `torch._check` says that they lie within the size."""
    return frozenset(one._replace(sight=one.sight._replace(unchecked=True)) for one in symbols)


def along(symbols: Iterable[Effect], dimension: int | None, *, last: bool = False) -> Taint:
    """Symbols as the size of a dimension; `last` where that is known to be the last one."""
    return at(symbols, dimension, -1 if last else None)


def at(symbols: Iterable[Effect], along: int | None, behind: int | None) -> Taint:
    """Symbols as the size of a dimension, counted from the front and from the end."""
    return frozenset(one._replace(sight=one.sight._replace(along=along, behind=behind)) for one in symbols)


# -- numbers --------------------------------------------------------------------------------------------------------


def arithmetic(operator: ast.operator, left: Value, right: Value) -> Taint:
    """What numbers carry after arithmetic: a symbol is known by itself and times a constant."""
    one, other = of(left), of(right)
    rest = beside(left) | beside(right)
    if not one and not other:
        return rest
    if one and other:
        return rest | ((one | other) if _is_multiple(operator, one, other) else hidden(one | other))
    by = right if one else left
    return rest | frozenset(_computed(operator, symbol, by, reverse=not one) for symbol in one or other)


def _is_multiple(operator: ast.operator, one: Taint, other: Taint) -> bool:
    """Whether two numbers that carry symbols are one symbol, added to itself."""
    if not isinstance(operator, _LINEAR) or len(one) != 1 or one != other:
        return False
    return all(not effect.sight.each or effect.sight.part is not None for effect in one)


def _computed(operator: ast.operator, symbol: Effect, by: Value, *, reverse: bool) -> Effect:
    """A symbol after arithmetic with a number that carries none; `reverse` where that stands on the left."""
    if is_input(symbol):
        return symbol
    constant = by.const if isinstance(by.const, (int, float)) else None
    sight = symbol.sight
    if isinstance(operator, _LINEAR):
        if constant is None:
            return symbol._replace(sight=sight._replace(hidden=sight.hidden ^ bool(by.flags & Flag.SHAPE)))
        sign = -1 if reverse and isinstance(operator, ast.Sub) else 1
        added = sign * sight.added + (-constant if isinstance(operator, ast.Sub) and not reverse else constant)
        return symbol._replace(sight=sight._replace(times=sign * sight.times, added=added))
    if isinstance(operator, ast.Mult):
        # Sizes are whole numbers, also those of selections from tensors of floats.
        floating = symbol.how in NUMBERS and bool(symbol.value.flags & Flag.FLOATING)
        return symbol._replace(sight=_multiplied(sight, constant, floating=floating))
    if not isinstance(operator, _DIVISIONS) or (constant == 1 and not reverse):
        return symbol
    if constant is None:
        return symbol._replace(sight=sight._replace(hidden=not sight.hidden))
    even = isinstance(operator, ast.FloorDiv) and not reverse and constant and isinstance(constant, int)
    if even and sight.times % constant == 0 and sight.added % constant == 0:
        return symbol._replace(sight=sight._replace(times=sight.times // constant, added=sight.added // constant))
    return symbol._replace(sight=sight._replace(lost=True))


def _multiplied(sight: Sight, constant: float | None, *, floating: bool) -> Sight:
    """A multiple of a whole number shows it; of other numbers only the number itself is known."""
    if constant is None:
        return sight._replace(hidden=sight.hidden ^ floating)
    if constant != 1 and (floating or not isinstance(constant, int)):
        return sight._replace(lost=True)
    return sight._replace(times=sight.times * int(constant), added=sight.added * constant)


def compared(taint: Taint) -> Taint:
    """What the truth value of a comparison carries."""
    symbols = frozenset(one for one in taint if one.event is Event.ESCAPE)
    return (taint - symbols) | lost(symbols)


def is_settled(operator: ast.cmpop, size: Value, limit: Value) -> bool:
    """Whether a comparison is answered for any data: how many elements there are is not negative."""
    sizes = of(size)
    plain = all(one.how not in NUMBERS and one.sight.is_shown and one.sight.times > 0 for one in sizes)
    return bool(sizes) and plain and limit.const == 0 and isinstance(operator, (ast.GtE, ast.Lt))


def is_known(operator: ast.cmpop, left: Value, right: Value) -> bool:
    """Whether a comparison of sizes is answered without the data: one size with itself, and whether one is negative."""
    if not {left.kind, right.kind} <= _SIZES:
        return False
    if isinstance(operator, (ast.GtE, ast.Lt)) and right.const == 0 and _is_made(left):
        return all(effect.how is not Taken.ITEM for effect in left.taint)
    return _is_made(left) and left.taint == right.taint


def _is_made(size: Value) -> bool:
    return bool(size.taint) and all(effect.event is Event.ESCAPE for effect in size.taint)


def negated(value: Value) -> Taint:
    """What a number carries behind a minus sign."""
    return arithmetic(ast.Mult(), value, Value(Kind.NUMBER, const=-1))


def rounded(value: Value) -> Taint:
    """What `abs` and `round` leave of a number: what counts elements is no less than zero, and whole."""
    numbers = frozenset(one for one in of(value) if one.how in NUMBERS)
    return (value.taint - numbers) | lost(numbers)


def added_up(taint: Taint) -> Taint:
    """What the sum of a list of numbers carries: several symbols make a sum of symbols."""
    symbols = frozenset(one for one in taint if one.event is Event.ESCAPE)
    several = len({one.symbol or one.key for one in symbols}) > 1
    summed = symbols if several else frozenset(one for one in symbols if one.sight.each and one.sight.part is None)
    return (taint - summed) | hidden(summed)


# -- parts ----------------------------------------------------------------------------------------------------------


def entry(part: Value, whole: Value, key: object, count: int = 0) -> Taint:
    """What the entry at a position carries of a list that has a symbol for each entry.

    `count` is how many entries there are, where that is known. Counted from the end, an entry is not told apart.
    """
    taint = part.taint
    if not isinstance(key, int) or isinstance(key, bool) or key < 0:
        return taint
    listed = frozenset(one for one in of(whole) if one.sight.each and one.sight.part is None) & taint
    if not listed:
        return taint
    return (taint - listed) | frozenset(one._replace(sight=one.sight._replace(part=(key, count))) for one in listed)


def of_entries(whole: Value, entry: Value) -> Taint:
    """What a new list carries: of its entries, the symbols that each has of its own."""
    return beside(whole) | frozenset(one for one in of(entry) if one.sight.each)


def each(value: Value, node: ast.AST | None = None) -> Value:
    """An entry of a list that has a symbol for each entry: those that the expression `node` makes, or all."""
    inside = None if node is None else {id(one) for one in walk(node)}
    made = frozenset(one for one in of(value) if inside is None or id(one.node) in inside)
    several = frozenset(one._replace(sight=one.sight._replace(each=True)) for one in made)
    return value.with_taint((value.taint - made) | several) if made else value
