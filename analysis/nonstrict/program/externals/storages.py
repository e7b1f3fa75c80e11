"""The storages of tensors: what is done with memory that is not there while the compiler traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Pointed
from nonstrict.models.entries import Doing
from nonstrict.models.library import SHIPPED
from nonstrict.program.domain.references import Memory
from nonstrict.program.domain.values import NUMBER, UNKNOWN, Flag, Kind, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.state.frames import Frame

#: Methods of tensors that give the storage.
METHODS = frozenset({"untyped_storage", "storage", "_typed_storage"})
#: Of these, those that nothing but a tensor has.
OF_TENSORS = frozenset({"untyped_storage", "_typed_storage"})
_ADDRESSES = frozenset({"data_ptr", "share_memory_", "_share_memory_"})
#: What storages do with memory: the graph has no such operators, so that every backend but "eager" refuses it.
_WORK = {
    name: entry.effect.what
    for name, entry in SHIPPED.members("torch.UntypedStorage").items()
    if entry.effect is not None and entry.effect.doing is Doing.STORAGE
}
#: What gives memory another size, of which a tensor without elements has none to lose.
_RESIZING = frozenset({"resize_", "_resize_"})
_NUMBERS = frozenset({"data_ptr", "nbytes", "size"})


def of(tensor: Value) -> Value:
    """The storage of a tensor."""
    return Value(Kind.STORAGE, tensor.place, Memory(tensor))


def made(name: str, operator: Operator, positional: Sequence[Value], result: Value) -> Value:
    """A new tensor; one that is made without elements is known as such."""
    last = name.rpartition(".")[2]
    if last == "tensor":
        data = positional[0] if positional else UNKNOWN
        empty = data.kind in (Kind.LIST, Kind.TUPLE) and data.heap is not None and not _holds(data)
    elif operator.sized:
        given = positional[1:] if operator.metadata else positional
        given = given if operator.spread else given[:1]
        listed = given[0].heap.items.values() if len(given) == 1 and given[0].heap is not None else given
        empty = any(size.kind is Kind.NUMBER and size.const == 0 for size in listed)
    else:
        return result
    return result._replace(flags=result.flags | Flag.EMPTY) if empty and result.kind is Kind.TENSOR else result


def _holds(data: Value) -> bool:
    """Whether a list may have elements."""
    heap = data.heap
    return heap is None or heap.open or heap.unsure or heap.element is not None or heap.loose is not None


def call(
    frame: Frame, node: ast.AST, storage: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """The result of a method of a storage; how large a storage is needs no memory."""
    if not isinstance(storage.ref, Memory):
        return UNKNOWN
    tensor = storage.ref.tensor
    if name in _ADDRESSES:
        frame.emit(Event.POINTER, node, tensor.place, tensor, f"the storage's `{name}()`", how=Pointed.ADDRESS)
    elif name in _WORK and not (name in _RESIZING and tensor.flags & Flag.EMPTY):
        frame.emit(Event.POINTER, node, tensor.place, tensor, _WORK[name], how=Pointed.STORAGE)
    return NUMBER if name in _NUMBERS else UNKNOWN


def given_to(frame: Frame, node: ast.AST, tensor: Value, name: str, given: Sequence[Value]) -> None:
    """`tensor.set_(...)`: with a tensor, or nothing, it is traced; with a storage it is not."""
    if name == "set_" and given and given[0].kind is Kind.STORAGE:
        what = "gives a tensor the storage of another"
        frame.emit(Event.POINTER, node, tensor.place, tensor, what, how=Pointed.STORAGE)
