"""The abstract value of a type that a model names: what a call of a library returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.places import FRESH
from nonstrict.program.values import (
    BOOL,
    BYTEARRAY,
    NONE,
    NUMBER,
    NUMPY,
    STRING,
    TENSOR,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    container,
    join,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.models.entries import Type
    from nonstrict.models.library import Models

_SIMPLE = {
    "builtins.float": NUMBER,
    "builtins.str": STRING,
    "builtins.bool": BOOL,
    "builtins.None": NONE,
    "numpy.ndarray": NUMPY,
    "numpy.generic": NUMBER,
    "torch.Tensor": TENSOR,
}
#: Types of which no more is known than that something is there.
_ANYTHING = frozenset({"", "typing.Any", "typing.Union", "typing.Self"})
_CONTAINERS = {
    "builtins.list": Kind.LIST,
    "builtins.dict": Kind.DICT,
    "builtins.set": Kind.SET,
    "builtins.frozenset": Kind.SET,
    "builtins.tuple": Kind.TUPLE,
    "types.MappingProxyType": Kind.DICT,
    "collections.deque": Kind.DEQUE,
    "collections.abc.Iterator": Kind.ITERATOR,
    "collections.abc.Iterable": Kind.ITERATOR,
    "tqdm.tqdm": Kind.INSTANCE,
    BYTEARRAY: Kind.LIST,
}
#: Containers that are passed to marked functions on other terms than lists and dicts.
_TOLD_APART = frozenset(
    {
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.Counter",
        "types.MappingProxyType",
        "tqdm.tqdm",
        BYTEARRAY,
    }
)
#: Generators of random numbers: one with a seed of its own draws the same numbers in every call.
_GENERATORS = ("random.Random",)


def of_type(models: Models, wanted: Type, given: Sequence[Value] = ()) -> Value:
    """A value of a type; a container without a type of its own for its elements holds what those in `given` hold."""
    if wanted.name in _ANYTHING:
        return UNKNOWN
    for base in models.ancestors(wanted.name):
        if (simple := _SIMPLE.get(base)) is not None:
            return simple._replace(ref=wanted.name) if base == "numpy.generic" else simple
        if (kind := _CONTAINERS.get(base)) is not None:
            told = wanted.name if wanted.name in _TOLD_APART or kind is Kind.INSTANCE else None
            return container(kind, *_elements(models, wanted, given, kind))._replace(ref=told)
    seeded = models.is_a(wanted.name, *_GENERATORS) and bool(given) and given[0].kind is not Kind.NONE
    return Value(Kind.INSTANCE, FRESH, wanted.name, flags=Flag.LITERAL if seeded else Flag.NONE)


def _elements(models: Models, wanted: Type, given: Sequence[Value], kind: Kind) -> list[Value]:
    named = [of_type(models, one) for one in wanted.parameters]
    if not named:
        return [value.heap.element for value in given if value.heap is not None and value.heap.element is not None]
    if kind is Kind.TUPLE:
        return named
    return [join(None, named[-1])]
