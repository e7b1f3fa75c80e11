"""The abstract value of a class outside the program, by its name: as a model, or an annotation, promises it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import BASE_MODULES, nn_module, torch_kind
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import (
    BOOL,
    BYTEARRAY,
    BYTES,
    NONE,
    NUMBER,
    NUMPY,
    SETTING,
    SIZE,
    STRING,
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
    from nonstrict.program.domain.access_paths import AccessPath

_SIMPLE = {
    "builtins.float": NUMBER,
    "builtins.bool": BOOL,
    "builtins.str": STRING,
    "builtins.bytes": Value(Kind.STRING, ref=BYTES),
    "builtins.None": NONE,
    "torch.Size": SIZE,
    "torch.device": SETTING,
    "torch.dtype": SETTING,
    "torch.layout": SETTING,
    "torch.memory_format": SETTING,
    "torch.Generator": Value(Kind.GENERATOR),
    "torch.SymInt": NUMBER,
    "numpy.ndarray": NUMPY,
}
_SEQUENCES = ("Sequence", "MutableSequence", "Iterable")
_MAPPINGS = ("Mapping", "MutableMapping")
_CONTAINERS = {
    "builtins.list": Kind.LIST,
    BYTEARRAY: Kind.LIST,
    **{f"{module}.{name}": Kind.LIST for module in ("typing", "collections.abc") for name in _SEQUENCES},
    "builtins.dict": Kind.DICT,
    "types.MappingProxyType": Kind.DICT,
    **{f"{module}.{name}": Kind.DICT for module in ("typing", "collections.abc") for name in _MAPPINGS},
    "builtins.set": Kind.SET,
    "builtins.frozenset": Kind.SET,
    "builtins.tuple": Kind.TUPLE,
    "typing.Tuple": Kind.TUPLE,
    "collections.deque": Kind.DEQUE,
    **dict.fromkeys(("typing.Iterator", "typing.Generator", "collections.abc.Iterator"), Kind.ITERATOR),
    "tqdm.tqdm": Kind.INSTANCE,
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
#: Types of which no more is known than that something is there.
_ANYTHING = frozenset({"", "typing.Any", "typing.Union", "typing.Self"})
_GENERAL = ("typing.", "collections.abc.")
#: Scalars of NumPy: numbers that are told from Python's own.
_SCALAR = "numpy.generic"
#: Generators of random numbers: one with a seed of its own draws the same numbers in every call.
_GENERATOR = "random.Random"
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
#: Classes of tensors that have the members of `torch.Tensor` and no others.
PLAIN_TENSORS = frozenset({"torch.Tensor", "torch._tensor.Tensor", "torch.nn.Buffer", "torch.nn.parameter.Buffer"})


def container_kind(models: Models, name: str) -> Kind | None:
    """Which kind of container objects of a class are; None if they are none."""
    return next((_CONTAINERS[base] for base in models.ancestors(name) if base in _CONTAINERS), None)


def instance(models: Models, name: str, place: AccessPath) -> Value:
    """An object of a class, of which nothing else is known, at a place."""
    if name in _ANYTHING:
        return UNKNOWN.at(place)
    if name in _PARAMETERS:
        return Value(Kind.PARAMETER, place)
    kind = torch_kind(name)
    if kind == "tensor-class":
        # A subclass has attributes of its own: `ref` tells it from a plain tensor.
        return Value(Kind.TENSOR, place, None if name in PLAIN_TENSORS else name)
    if kind == "nn-module-class" or nn_module(name) is not None:
        return Value(Kind.MODULE, place, name)
    for base in models.ancestors(name):
        if base in _SIMPLE:
            return _SIMPLE[base].at(place)
        if base in _CONTAINERS:
            return Value(_CONTAINERS[base], place)
        if base == _SCALAR:
            return Value(Kind.NUMBER, place, name)
        if base in BASE_MODULES:
            return Value(Kind.MODULE, place, name)
    return UNKNOWN.at(place) if name.startswith(_GENERAL) else Value(Kind.INSTANCE, place, name)


def result(models: Models, wanted: Type, given: Sequence[Value] = ()) -> Value:
    """What a call makes that returns a type; a container of unknown elements holds what those in `given` hold."""
    kind = container_kind(models, wanted.name)
    if kind is not None:
        told = wanted.name if wanted.name in _TOLD_APART else None
        return container(kind, *_elements(models, wanted, given, kind))._replace(ref=told)
    made = instance(models, wanted.name, FRESH)
    seeded = made.kind is Kind.INSTANCE and bool(given) and given[0].kind is not Kind.NONE
    return made._replace(flags=Flag.LITERAL) if seeded and models.is_a(wanted.name, _GENERATOR) else made


def _elements(models: Models, wanted: Type, given: Sequence[Value], kind: Kind) -> list[Value]:
    named = [result(models, one) for one in wanted.parameters]
    if not named:
        return [value.heap.element for value in given if value.heap is not None and value.heap.element is not None]
    return named if kind is Kind.TUPLE else [join(None, named[-1])]
