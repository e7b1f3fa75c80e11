"""Method calls on containers: what they give back, what they change."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change
from nonstrict.models.members import CHANGING, SPREADING, STORING
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.values import (
    BYTEARRAY,
    CONTAINERS,
    NO_CONSTANT,
    NONE,
    NUMBER,
    PRIMITIVES,
    STRING,
    TENSORS,
    UNKNOWN,
    Kind,
    Value,
    container,
    holding,
    join,
)
from nonstrict.program.objects import container_flow, iteration, stores, subscripts

if TYPE_CHECKING:
    from nonstrict.program.domain.values import AbstractObject
    from nonstrict.program.state.frames import Frame

#: What the kinds of containers are called in the tables of effects.
NAMES = {Kind.LIST: "list", Kind.DICT: "dict", Kind.SET: "set", Kind.DEQUE: "deque"}
#: Those that have more methods than others of their kind.
_OWN_NAMES = {
    "collections.OrderedDict": "OrderedDict",
    "collections.defaultdict": "defaultdict",
    "collections.Counter": "Counter",
    BYTEARRAY: "bytearray",
}
#: Methods of dicts that change the entry of their first argument.
_ONE_ENTRY = frozenset({"pop", "setdefault", "__setitem__", "__delitem__"})


def call(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """The result of `receiver.name(...)`."""
    for value in (*positional, *keywords.values()):
        frame.consume(node, value)
    told_apart = _OWN_NAMES.get(receiver.dotted)
    kind = told_apart or NAMES.get(receiver.kind, "")
    if name == "sort" and frame.region and receiver.kind is Kind.LIST:
        element = receiver.heap.element if receiver.heap is not None else None
        compared = (
            frame.machine.call(frame, node, keywords["key"], [element or UNKNOWN], {}) if "key" in keywords else element
        )
        frame.observer.ordered_by(frame, node, compared or UNKNOWN)
    if kind and name in CHANGING[kind]:
        return _mutate(frame, node, receiver, name, positional, keywords)
    frame.consume(node, _looked_up(frame, receiver, positional) if name == "get" else receiver)
    element = receiver.heap.element if receiver.heap is not None else None
    if name == "copy":
        return Value(receiver.kind, FRESH, heap=container_flow.taken(frame, receiver))
    if name in ("get", "setdefault"):
        return _get(frame, receiver, positional)
    if name == "values":
        return iteration.values(frame, receiver, _placed(frame, receiver, element))
    if name == "items":
        return iteration.pairs(frame, receiver, container(Kind.TUPLE, STRING, _placed(frame, receiver, element)))
    if name == "keys":
        return iteration.keys(frame, receiver)
    if name in ("index", "count"):
        return NUMBER
    if receiver.kind is Kind.SET and name in ("union", "intersection", "difference", "symmetric_difference"):
        return holding(Kind.SET, element)
    return UNKNOWN


def _looked_up(frame: Frame, receiver: Value, positional: list[Value]) -> Value:
    """What `get` reads of a dict: the entry of its key, where that is known and holds plain data."""
    entries = container_flow.entries_at(positional[0]) if positional and receiver.kind is Kind.DICT else ()
    found = receiver.heap.load(positional[0].const) if entries and receiver.heap is not None else None
    plain = found is not None and found.kind in PRIMITIVES and len(entries) == 1
    return subscripts.entry(frame, receiver, positional[0].const, found) if found is not None and plain else receiver


def _placed(frame: Frame, receiver: Value, element: Value | None) -> Value:
    found = element or UNKNOWN
    if found.kind is Kind.UNION or found.kind in TENSORS:
        return subscripts.entry(frame, receiver, NO_CONSTANT, found)
    return found if receiver.place.root is Root.FRESH else found.at(receiver.place.step("[]"))


def _set_default(frame: Frame, receiver: Value, positional: list[Value]) -> Value:
    """What `setdefault` returns is in the dict from there on, whatever was there before."""
    found = _get(frame, receiver, positional)
    own = [one for one in found.alternatives() if one.place.root is not Root.FRESH]
    if not own or frame.static or not _is_new_container(positional):
        return found
    result: Value | None = None
    for one in own:
        result = join(result, one)
    return result or found


def _is_new_container(positional: list[Value]) -> bool:
    """Whether the default of `get` or `setdefault` is a container made for it: entries are such containers too."""
    return len(positional) > 1 and positional[1].kind in CONTAINERS and positional[1].place.root is Root.FRESH


def _get(frame: Frame, receiver: Value, positional: list[Value]) -> Value:
    if not positional or (receiver.heap is None and not _is_new_container(positional)):
        return UNKNOWN.at(receiver.place.step("[]"))
    key = positional[0].const
    if _is_absent(receiver, key):
        return positional[1] if len(positional) > 1 else NONE
    # What an unseen caller passes by keyword may or may not be there.
    heap = receiver.heap
    found = heap.load(key) if heap is not None and (key in heap.items or not heap.open) else None
    if found is None and stores.outer(receiver.place) and not frame.static and _is_new_container(positional):
        found = Value(positional[1].kind, ref=positional[1].ref)
    placed = UNKNOWN.at(receiver.place.step("[]")) if found is None else found
    if found is not None and receiver.place.root is not Root.FRESH:
        step = f"[{key!r}]" if key is not NO_CONSTANT else "[]"
        placed = found.at(receiver.place.step(step))
    if found is not None and heap is not None and _is_sure(heap, key):
        return placed
    if len(positional) == 1 and stores.outer(receiver.place):
        return join(placed, NONE)  # what is known to be there may have been put there later
    return join(placed, positional[1]) if len(positional) > 1 else placed


def _is_sure(heap: AbstractObject, key: object) -> bool:
    """Whether a dict that was made in seen code surely holds one thing under a key."""
    return key in heap.items and not heap.unsure and not heap.open and heap.loose is None


def _is_absent(receiver: Value, key: object) -> bool:
    """Whether a dict, all of whose keys were seen, has no such key."""
    heap = receiver.heap
    if receiver.kind is not Kind.DICT or receiver.place.captured or heap is None or heap.open or heap.loose is not None:
        return False
    known = bool(heap.items) and all(isinstance(one, str) for one in heap.items)
    return known and isinstance(key, str) and key not in heap.items


def _mutate(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    stored = _stored(name, positional, keywords)
    if stores.outer(receiver.place):
        entries = _entries(frame, node, name, positional, keywords) if receiver.kind is Kind.DICT else ()
        stores.write(frame, node, receiver.place, stored, Change.METHOD, name, entries=entries)
    else:
        for value in positional:
            if name not in STORING:
                frame.sink(value)
    if receiver.heap is not None and name in STORING and (receiver.place.root is Root.FRESH or frame.static):
        kept = stored if receiver.place.root is Root.FRESH else stored.with_taint(frozenset())
        _keep(frame, receiver.heap, name, kept, positional, keywords)
    if name == "setdefault":
        return _set_default(frame, receiver, positional)
    return _taken_out(frame, receiver, positional) if name in ("pop", "popleft", "popitem") else NONE


def _entries(
    frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]
) -> tuple[str, ...]:
    """The steps to the entries of a dict that a method changes; none where it may be any of them."""
    if name in _ONE_ENTRY:
        return container_flow.entries_at(positional[0]) if positional else ()
    given = [*node.args, *(keyword.arg for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    if name != "update" or any(one is None or isinstance(one, ast.Starred) for one in given):
        return ()
    given = container_flow.entries_in(frame, positional[0]) if positional else ()
    if positional and not given:
        return ()
    return (*given, *(container_flow.entry_of(key) for key in keywords))


def _keep(
    frame: Frame, heap: AbstractObject, name: str, kept: Value, positional: list[Value], keywords: dict[str, Value]
) -> None:
    """Put into a container what a method stores."""
    unsure = heap.unsure or frame.branches > 0 or _is_unsure(name, positional)
    if positional or not keywords:
        heap.store(NO_CONSTANT, kept)
    for key, value in keywords.items() if name == "update" else ():
        heap.store(key, value)
    heap.unsure = unsure
    if name == "update" and positional and positional[0].heap is not None:
        heap.items.update(positional[0].heap.items)


def _taken_out(frame: Frame, receiver: Value, positional: list[Value]) -> Value:
    """What `pop` and the like take out of a container."""
    key = positional[0].const if positional else NO_CONSTANT
    if len(positional) == 2 and _lacks(receiver, key):
        return positional[1]
    found = receiver.heap.load(key) if receiver.heap is not None else None
    if receiver.heap is not None and receiver.kind is Kind.DICT and receiver.place.root is Root.FRESH:
        receiver.heap.forget(key)
    return _placed(frame, receiver, found)


def _is_unsure(name: str, positional: list[Value]) -> bool:
    """Whether one of several values is stored, or some of what a container may hold."""
    given = positional[-1] if positional else UNKNOWN
    if name in SPREADING:
        return given.heap is None or given.heap.unsure
    return given.kind is Kind.UNION


def _lacks(receiver: Value, key: object) -> bool:
    """Whether a dict made in the body surely has no such key."""
    heap = receiver.heap
    if receiver.kind is not Kind.DICT or receiver.place.root is not Root.FRESH or heap is None or heap.open:
        return False
    return key is not NO_CONSTANT and key not in heap.items and heap.loose is None


def _stored(name: str, positional: list[Value], keywords: dict[str, Value]) -> Value:
    values = [*positional, *keywords.values()]
    if name not in STORING or not values:
        return UNKNOWN
    value = values[-1]
    if name in SPREADING and positional and value is positional[-1] and value.heap is not None:
        return value.heap.element or UNKNOWN
    return value
