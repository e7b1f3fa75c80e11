"""What iterating yields, one by one, where that is known: the entries of literals, of ranges, of lists of modules.

Code that is run for each entry knows which one it has: `Block(i) for i in range(3)` makes three objects that differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain import constant_folding
from nonstrict.program.domain.access_paths import FRESH, VIEW, Root
from nonstrict.program.domain.any_of import any_of
from nonstrict.program.domain.values import (
    DICT_VIEW,
    NUMBER,
    PRIMITIVES,
    REVERSED,
    STRING,
    TENSORS,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    join,
    relocated,
)
from nonstrict.program.objects import attributes, classes, subscripts

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

    from nonstrict.program.state.frames import Frame

#: Longer ones are looked at as one: what holds for any of their entries.
MAX_ENTRIES = 16
_MAX_LIMITS = 3
_MODULE_DICT = "torch.nn.ModuleDict"
_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET, Kind.ITERATOR, Kind.MODULE})


def elements_of(frame: Frame, node: ast.AST, iterable: Value) -> Value:
    """What iterating over a value yields."""
    found: Value | None = None
    frame.observer.iterated(frame, node, iterable)
    for alternative in iterable.alternatives():
        found = join(found, _element(frame, node, alternative))
    element = found or UNKNOWN
    return element if iterable.kind in TENSORS else element.with_taint(element.taint | iterable.taint)


def _element(frame: Frame, node: ast.AST, iterable: Value) -> Value:
    special = classes.special(frame, node, iterable, "__iter__", [])
    if special is not None:
        return special.heap.element or UNKNOWN if special.heap is not None else UNKNOWN
    if iterable.flags & Flag.OUTPUT:
        return UNKNOWN.with_taint(iterable.taint)  # several things: a tensor is seldom taken apart
    if iterable.kind in TENSORS:
        return Value(Kind.TENSOR, iterable.place.step(VIEW), flags=iterable.flags & Flag.OF_PARTS)
    if iterable.kind is Kind.CLASS and iterable.of_class is not None and classes.is_enum(iterable.of_class):
        return classes.instance_at(frame.machine, iterable.of_class, FRESH)
    if iterable.kind is Kind.NUMPY:
        return iterable.at(iterable.place.step("[]"))
    if iterable.kind is Kind.SIZE:
        part = Value(Kind.NUMBER, flags=(iterable.flags & Flag.SHAPE) | Flag.WHOLE)
        return frame.observer.size_taken(frame, iterable, part, None)
    if iterable.kind is Kind.DICT:
        keys = iterable.heap.items if iterable.heap else {}
        return STRING if not keys or any(isinstance(key, str) for key in keys) else UNKNOWN
    frame.advance(node, iterable)
    if iterable.heap is not None and iterable.heap.element is not None:
        element = _any_entry(iterable.heap, iterable.heap.element)
        if iterable.place.root is FRESH.root:
            return element
        element = relocated(element, iterable.place.step("[]"))
        # Of numbers it is enough that iterating reads the container.
        return element if _is_number(element) else attributes.held(iterable, element)
    return UNKNOWN.at(iterable.place.step("[]"))


def _any_entry(heap: AbstractObject, element: Value) -> Value:
    """Any entry of a container: of lists that are all known, a list of which less is known."""
    known = heap.items.values() if heap.loose is None and not heap.open else ()
    return any_of(known) or element if element.kind is Kind.UNKNOWN else element


def _is_number(element: Value) -> bool:
    return all(alternative.kind in PRIMITIVES for alternative in element.alternatives())


def entries(frame: Frame, iterable: Value) -> list[Value] | None:
    """What iterating over a value yields, in order; None where that is not known one by one, or is too much."""
    if iterable.kind is Kind.STRING and isinstance(iterable.const, str) and 0 < len(iterable.const) <= MAX_ENTRIES:
        return [STRING._replace(const=character) for character in iterable.const]
    heap = iterable.heap
    if heap is None or heap.loose is not None or heap.unsure or heap.open or not 0 < len(heap.items) <= MAX_ENTRIES:
        return None
    if iterable.kind is Kind.DICT or (iterable.kind is Kind.MODULE and iterable.dotted == _MODULE_DICT):
        return [STRING._replace(const=key) for key in _keys(iterable)] or None
    if iterable.kind not in _SEQUENCES or list(heap.items) != list(range(len(heap.items))):
        return None
    own = iterable.kind is Kind.MODULE and not iterable.dotted
    if own or (iterable.kind is Kind.ITERATOR and iterable.place.captured):
        return None
    found = [subscripts.entry(frame, iterable, key, value) for key, value in heap.items.items()]
    if iterable.kind is Kind.SET:
        once = {constant_folding.key_of(one): one for one in found}
        return list(once.values()) if None not in once else None
    return found[::-1] if iterable.dotted == REVERSED else found


def texts(frame: Frame, iterable: Value) -> list[str] | None:
    """The strings that iterating yields; None where they are not known one by one, or something else is among them."""
    found = [one.const for one in known(frame, iterable) or ()]
    strings = [one for one in found if isinstance(one, str)]
    return strings if found and len(strings) == len(found) else None


def differ(values: Iterable[Value]) -> bool:
    """Whether some values are not all the same one."""
    return len({(value.kind, id(value.heap), id(value.ref), repr(value.const)) for value in values}) > 1


def known(frame: Frame, iterable: Value) -> list[Value] | None:
    """The entries for code that is run for each of them: outside of traced code, and in regions, which unroll loops."""
    return entries(frame, iterable) if _one_by_one(frame) else None


def _one_by_one(frame: Frame) -> bool:
    return frame.static or frame.region or frame.plain


def values(frame: Frame, table: Value, element: Value) -> Value:
    """`table.values()`: one by one where they are known, else any `element`."""
    keys = _keys(table) if _one_by_one(frame) else []
    found = [subscripts.entry(frame, table, key, table.heap.items[key]) for key in keys if table.heap is not None]
    return listed(Kind.LIST, found, element)._replace(ref=DICT_VIEW)


def pairs(frame: Frame, table: Value, element: Value) -> Value:
    """`table.items()`: one by one where they are known, else any `element`."""
    keys = [STRING._replace(const=key) for key in _keys(table)]
    held = values(frame, table, element).heap
    named = zip(keys, held.items.values() if held is not None else (), strict=False)
    return listed(Kind.LIST, [container(Kind.TUPLE, *pair) for pair in named], element)._replace(ref=DICT_VIEW)


def keys(frame: Frame, table: Value) -> Value:
    """`table.keys()`: one by one where they are known."""
    found = _keys(table) if _one_by_one(frame) else []
    return listed(Kind.LIST, [STRING._replace(const=key) for key in found], STRING)._replace(ref=DICT_VIEW)


def _keys(table: Value) -> list[str]:
    """The keys of a dict, or of a dict of modules, where all are known and are not too many."""
    heap = table.heap
    if heap is None or heap.loose is not None or heap.unsure or heap.open or len(heap.items) > MAX_ENTRIES:
        return []
    keys = [key for key in heap.items if isinstance(key, str)]
    return keys if len(keys) == len(heap.items) else []


def count(frame: Frame, value: Value) -> Value | None:
    """How many entries a list of modules has, or a container that was made here; None if that is not known."""
    own = value.kind is Kind.MODULE or value.place.root is Root.FRESH
    found = known(frame, value) if own else None
    return NUMBER._replace(const=len(found)) if found is not None else None


def listed(kind: Kind, values: Sequence[Value], element: Value | None) -> Value:
    """A container of known entries, any of which is `element`."""
    heap = AbstractObject()
    heap.items = dict(enumerate(values))
    heap.element = element
    return Value(kind, heap=heap)


def numbers(limits: Sequence[Value]) -> list[Value]:
    """The numbers of a range whose limits are known; none if they are not, or are too many."""
    known_limits = [one.const for one in limits if type(one.const) is int]
    if len(known_limits) != len(limits) or not 0 < len(limits) <= _MAX_LIMITS or known_limits[2:] == [0]:
        return []
    found = range(*known_limits)
    return [NUMBER._replace(const=number) for number in found] if len(found) <= MAX_ENTRIES else []


def enumerated(frame: Frame, iterable: Value, start: Value) -> list[Value]:
    """The pairs of numbers and entries of what is known one by one."""
    first = start.const
    values = known(frame, iterable) if type(first) is int else None
    counted = enumerate(values or [], first if type(first) is int else 0)
    return [container(Kind.TUPLE, NUMBER._replace(const=number), value) for number, value in counted]


def zipped(frame: Frame, iterables: Sequence[Value]) -> list[Value]:
    """The tuples that `zip` makes of what is known one by one; none if something is not."""
    columns = [column for one in iterables if (column := known(frame, one)) is not None]
    if not columns or len(columns) != len(iterables):
        return []
    return [container(Kind.TUPLE, *row) for row in zip(*columns, strict=False)]


def joined(values: Iterable[Value]) -> Value:
    """Any of some values."""
    found: Value | None = None
    for value in values:
        found = join(found, value)
    return found or UNKNOWN
