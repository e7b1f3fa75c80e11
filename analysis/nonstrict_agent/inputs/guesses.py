"""Plausible values of one parameter, most plausible first, from its annotation, its use in the body and its name."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
from typing import TYPE_CHECKING, Any

import torch

from nonstrict_agent.inputs import stated as stated_types
from nonstrict_agent.inputs import words
from nonstrict_agent.inputs.naming import class_name, name_of
from nonstrict_agent.inputs.shapes import SHAPES, Guess, index_range, tensors
from nonstrict_agent.inputs.specification import NONE, Spec, literal, tensor
from nonstrict_agent.inputs.stated import Sizes, Type
from nonstrict_agent.inputs.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_TENSOR_ATTRIBUTES = frozenset(dir(torch.Tensor)) - frozenset(
    ["__class__", "__dict__", "data", "name", "names", "values", "keys", "items", "get", "index", "type"]
)


class Builder:
    """Makes guesses. `names` is what annotations are evaluated in; `build` gives instances of the user's classes."""

    def __init__(
        self, names: Mapping[str, object], build: Callable[[type], list[Spec]], *, constructing: bool = False
    ) -> None:
        self._names = names
        self._build = build
        self._sizes = Sizes()
        self._constructing = constructing

    def guesses(self, name: str, usage: Usage, annotation: object, depth: int = 3) -> list[Guess]:
        """Values that a parameter may take, distinct, most plausible first."""
        stated = None if annotation is inspect.Parameter.empty else stated_types.read(annotation, self._names)
        found = list(self._of_type(name, usage, stated, depth)) if stated is not None else []
        if not found:
            found = list(self._of_use(name, usage, depth))
        return _distinct([*self._described(usage, found), *found])

    def _described(self, usage: Usage, found: list[Guess]) -> Iterator[Guess]:
        """A tensor of the shape that the author describes, where a tensor is as likely as anything."""
        likeliest = min(found, key=lambda guess: guess.cost, default=None)
        if usage.dims and likeliest is not None and likeliest.spec["kind"] == "tensor":
            yield Guess({**likeliest.spec, "shape": self._sizes.shape(usage.dims)}, likeliest.cost)

    def _of_type(self, name: str, usage: Usage, stated: Type, depth: int) -> Iterator[Guess]:
        if stated.name == "Union":
            cost = 0.0
            for each in sorted(stated.args, key=lambda each: each.name == "None"):
                guesses = list(self._of_type(name, usage, each, depth))
                yield from (Guess(guess.spec, guess.cost + cost) for guess in guesses)
                cost += 0.75
        elif stated.dims is not None:
            yield Guess(tensor(self._sizes.shape(stated.dims), stated.dtype, **index_range(stated.dtype)), 0)
        elif stated.name == "Literal":
            yield from (Guess(literal(value), 0.2 * n) for n, value in enumerate(stated.values))
        elif (maker := _BY_TYPE.get(stated.name)) is not None:
            yield from maker(self, name, usage)
        elif stated.name in {"list", "tuple", "set", "dict", "ints", "frozenset"}:
            yield from self._container(name, usage, stated, depth)
        elif stated.cls is not None:
            yield from self._of_class(stated.cls, name, usage, depth)

    def _container(self, name: str, usage: Usage, stated: Type, depth: int) -> Iterator[Guess]:
        if stated.name == "ints":
            for n, value in enumerate(([4], [2, 2], [0], 1, [4, 4], [2], 2)):
                spec = literal(value) if isinstance(value, int) else _ints(value)
                yield Guess(spec, 0.3 * n)
            return
        if stated.name == "dict":
            yield from self._dict(usage, depth, stated.args[1] if len(stated.args) == 2 else None)
            return
        if stated.name == "tuple" and len(stated.args) > 1:
            parts = [self._first(name, usage.items(), each, depth) for each in stated.args]
            yield Guess({"kind": "tuple", "items": parts}, 0)
            return
        element = stated.args[0] if stated.args else None
        lengths = [usage.length] if usage.length else [2, 1, 3, 4]
        if element is not None and element.name == "int":
            yield from (Guess(_ints([value] * n, stated.name), 0.3 * n) for n in (*lengths, 2, 1) for value in (2, 1))
            return
        for n, length in enumerate(lengths):
            for guess in list(self._inner(name, usage.items(), element, depth))[:6]:
                yield Guess({"kind": stated.name, "items": [guess.spec] * length}, guess.cost + 0.5 * n)

    def _inner(self, name: str, usage: Usage, stated: Type | None, depth: int) -> Iterator[Guess]:
        if depth <= 0:
            yield Guess(tensor(SHAPES[2]), 0)
        elif stated is None or stated.name == "any":
            yield from self._of_use(name, usage, depth - 1)
        else:
            yield from self._of_type(name, usage, stated, depth - 1)

    def _first(self, name: str, usage: Usage, stated: Type | None, depth: int) -> Spec:
        found = sorted(self._inner(name, usage, stated, depth), key=lambda guess: guess.cost)
        return found[0].spec if found else tensor(SHAPES[2])

    def _dict(self, usage: Usage, depth: int, value: Type | None) -> Iterator[Guess]:
        keys = usage.keys or {"a": usage.items(), "b": usage.items()}
        items = [[literal(key), self._first(key, used, value, depth)] for key, used in keys.items()]
        yield Guess({"kind": "dict", "items": items}, 0)

    def _of_class(self, cls: type, name: str, usage: Usage, depth: int) -> Iterator[Guess]:
        if issubclass(cls, enum.Enum):
            yield from (
                Guess({"kind": "enum", "class": class_name(cls), "name": member.name}, 0.2 * n)
                for n, member in enumerate(cls)
            )
        elif issubclass(cls, torch.Tensor):
            yield from tensors(name, usage)
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            yield Guess({"kind": "namedtuple", "class": class_name(cls), "fields": self._fields(cls, usage, depth)}, 0)
        elif dataclasses.is_dataclass(cls) and not issubclass(cls, torch.nn.Module):
            yield Guess({"kind": "dataclass", "class": class_name(cls), "fields": self._fields(cls, usage, depth)}, 0)
        elif cls is torch.nn.Module:
            yield from self._any_module(usage, depth)
        elif cls is range:
            yield Guess({"kind": "range", "start": 0, "stop": 3, "step": 1}, 0)
        elif depth > 0:
            yield from (Guess(spec, 0.3 * n) for n, spec in enumerate(self._build(cls)))

    def _fields(self, cls: type, usage: Usage, depth: int) -> dict[str, Spec]:
        hints: dict[str, Any] = {}
        for each in reversed(cls.__mro__):
            hints.update(inspect.get_annotations(each))
        names = getattr(cls, "_fields", None) or [each.name for each in dataclasses.fields(cls) if each.init]  # type: ignore[arg-type]
        defaults = {} if hasattr(cls, "_fields") else _defaults(cls)
        fields: dict[str, Spec] = {}
        for name in names:
            used = usage.attributes.get(name, Usage())
            if name in defaults:
                fields[name] = defaults[name]
                continue
            found = self.guesses(name, used, hints.get(name, inspect.Parameter.empty), depth - 1) if depth > 0 else []
            fields[name] = found[0].spec if found else tensor(SHAPES[2])
        return fields

    def _of_use(self, name: str, usage: Usage, depth: int) -> Iterator[Guess]:
        """Guesses for what has no annotation, from the likeliest kind on."""
        kinds = self._kinds(name, usage)
        for n, kind in enumerate(sorted(kinds, key=lambda kind: -kinds[kind])):
            if kind == "object":
                yield Guess(self._namespace(usage, depth), n)
            elif kind == "dict":
                yield from (Guess(guess.spec, guess.cost + n) for guess in self._dict(usage, depth, None))
            elif kind == "list":
                stated = Type("tuple" if usage.length else "list")
                yield from (Guess(guess.spec, guess.cost + n) for guess in self._container(name, usage, stated, depth))
            else:
                yield from (Guess(guess.spec, guess.cost + n) for guess in _BY_TYPE[kind](self, name, usage))

    def _kinds(self, name: str, usage: Usage) -> dict[str, float]:
        parts = set(name.lower().split("_"))
        foreign = set(usage.attributes) - _TENSOR_ATTRIBUTES
        shared = len(usage.attributes) - len(foreign)
        size = bool(parts & (words.SIZE | words.DIM | words.COUNT.keys())) and not parts & {
            "x",
            "states",
            "weight",
            "bias",
        }
        kinds = {
            "Tensor": 1.0
            + usage.tensor
            + shared
            + 0.2 * usage.number
            + 2 * bool(parts & (words.INDEX | words.MASK))
            + 2 * bool(usage.ranks),
            "object": (4.0 * len(foreign) + 2 * bool(parts & words.OBJECT)) if foreign else 0.0,
            "dict": 4.0 * len(usage.keys) + 3 * bool({"items", "keys", "values"} & usage.attributes.keys()),
            "list": (3.0 + usage.element.tensor if usage.element else 0.0)
            + 2 * bool({"append", "extend"} & usage.attributes.keys()),
            "Callable": 5.0 * (usage.called >= 0) + 0.9 * bool(parts & words.FUNCTION),
            "str": 4.0 * bool(usage.strings) + 1.5 * bool(parts & words.STRING.keys()),
            "bool": 1.5 * usage.truth + 2.0 * bool(parts & words.BOOL and name.lower() not in {"log", "use"}),
            "int": 0.6 + usage.integer + 2.2 * size + 1.0 * bool(usage.numbers) + self._constructing,
            "ProcessGroup": 0.5 * bool(parts & words.GROUP),
            "float": 0.4 + 2.4 * bool(parts & words.FLOAT.keys()) + 0.4 * bool(usage.numbers),
        }
        if self._constructing:
            kinds["Tensor"] -= 0.8
        return {kind: score for kind, score in kinds.items() if score > 0.3}

    def _namespace(self, usage: Usage, depth: int) -> Spec:
        fields: dict[str, Spec] = {}
        for name, used in usage.attributes.items():
            found = list(self._of_use(name, used, depth - 1)) if depth > 0 else []
            fields[name] = min(found, key=lambda guess: guess.cost).spec if found else literal(2)
        return {"kind": "object", "class": "types:SimpleNamespace", "fields": fields}

    def _any_module(self, usage: Usage, depth: int) -> Iterator[Guess]:
        """Modules of torch.nn, before them one with the attributes that are used and that no module has."""
        own = {name: used for name, used in usage.attributes.items() if not hasattr(_EXAMPLE, name)}
        if own and depth > 0:
            fields = self._namespace(Usage(attributes=own), depth)["fields"]
            yield Guess({**_made("linear:Identity"), "fields": fields}, 0)
        yield from (Guess(guess.spec, guess.cost + bool(own)) for guess in modules(usage))

    def _integers(self, name: str, usage: Usage) -> Iterator[Guess]:
        parts = name.lower().split("_")
        first: list[int] = []
        if (
            not self._constructing
            and words.DIM & set(parts)
            and not set(parts) & {"hidden", "embed", "head", "in", "out", "model"}
        ):
            first = [-1, 1, 0]
        elif any(word in words.COUNT for word in parts):
            first = [next(words.COUNT[word] for word in parts if word in words.COUNT)]
        elif self._constructing or set(parts) & words.SIZE:
            first = [4, 8]
        values = [*first, *(int(each) for each in usage.numbers), 2, 1, 4, 0, 3, 8]
        yield from (Guess(literal(value), 0.3 * n) for n, value in enumerate(dict.fromkeys(values)))

    def _floats(self, name: str, usage: Usage) -> Iterator[Guess]:
        named = [words.FLOAT[word] for word in reversed(name.lower().split("_")) if word in words.FLOAT]
        values = [*named[:1], *usage.numbers, 0.5, 2.0, 1.0, 0.0]
        yield from (Guess(literal(float(value)), 0.3 * n) for n, value in enumerate(dict.fromkeys(values)))

    def _strings(self, name: str, usage: Usage) -> Iterator[Guess]:
        named = [each for word in name.lower().split("_") for each in words.STRING.get(word, ())]
        yield from (
            Guess(literal(value), 0.2 * n)
            for n, value in enumerate(dict.fromkeys([*usage.strings, *named, "mean", "a"]))
        )


def _made(cls: str, *args: Spec, **kwargs: Spec) -> Spec:
    constructor = {"args": list(args), "kwargs": kwargs}
    return {"kind": "module", "class": f"torch.nn.modules.{cls}", "constructor": constructor, "training": True}


def modules(usage: Usage) -> Iterator[Guess]:
    """Modules of torch.nn that keep the shape of their input."""
    four = literal(4)
    linear, norm = _made("linear:Linear", four, four), _made("normalization:LayerNorm", four)
    conv = _made("conv:Conv2d", four, four, literal(1))
    bias = _made("batchnorm:BatchNorm2d", four)
    embedding = _made("sparse:Embedding", four, four)
    order = [linear, conv, norm, embedding, bias, _made("linear:Identity")]
    if not usage.attributes and usage.called < 0:
        order.append(order.pop(0))
    yield from (Guess(spec, 0.5 * n) for n, spec in enumerate(order))


def _callables(_builder: Builder, _name: str, usage: Usage) -> Iterator[Guess]:
    names = ["torch:tanh", "torch:relu"] if usage.called <= 1 else ["torch:add", "torch:mul"]
    yield from (Guess({"kind": "function", "name": name}, 0.4 * n) for n, name in enumerate(names))
    yield from (Guess(guess.spec, guess.cost + (0.8 if not usage.attributes else -0.5)) for guess in modules(usage))


def _ints(values: list[int], kind: str = "list") -> Spec:
    return {"kind": kind if kind in {"list", "tuple"} else "list", "items": [literal(value) for value in values]}


def _defaults(cls: type) -> dict[str, Spec]:
    """The fields of a dataclass that have a default, as far as it can be described."""
    from nonstrict_agent.inputs.specification import describe

    found: dict[str, Spec] = {}
    for each in dataclasses.fields(cls):  # type: ignore[arg-type]
        if each.default is not dataclasses.MISSING:
            found[each.name] = describe(each.default)
        elif each.default_factory is not dataclasses.MISSING:
            try:
                found[each.name] = describe(each.default_factory())
            except Exception:  # a factory of the user may raise anything; the field is then guessed  # noqa: BLE001
                found[each.name] = {"kind": "unknown"}
    return {name: spec for name, spec in found.items() if spec["kind"] != "unknown"}


def _distinct(found: list[Guess]) -> list[Guess]:
    kept: dict[str, Guess] = {}
    for guess in sorted(found, key=lambda guess: guess.cost):
        kept.setdefault(repr(guess.spec), guess)
    return list(kept.values())


@functools.lru_cache
def _device() -> Spec:
    return {"kind": "device", "name": "cpu"}


def _fixed(*specs: Spec) -> Callable[[Builder, str, Usage], Iterator[Guess]]:
    return lambda _builder, _name, _usage: (Guess(spec, 0.3 * n) for n, spec in enumerate(specs))


def _index_tensors(_builder: Builder, _name: str, usage: Usage) -> Iterator[Guess]:
    usage.index = True
    return tensors("indices", usage)


def _meshes(_builder: Builder, _name: str, usage: Usage) -> Iterator[Guess]:
    """With the dimensions that are asked for by name, else with one."""
    yield Guess({"kind": "device-mesh", "names": list(usage.keys)}, 0)


def _numbers(builder: Builder, name: str, usage: Usage) -> Iterator[Guess]:
    yield from builder._floats(name, usage)
    yield from builder._integers(name, usage)


_EXAMPLE = torch.nn.Linear(1, 1)
_RELU = name_of(torch.nn.ReLU) or "torch.nn.modules.activation:ReLU"
_BY_TYPE: Mapping[str, Callable[[Builder, str, Usage], Iterator[Guess]]] = {
    "Tensor": lambda _builder, name, usage: tensors(name, usage),
    "LongTensor": _index_tensors,
    "BoolTensor": lambda _builder, _name, usage: tensors("mask", usage),
    "int": Builder._integers,
    "float": Builder._floats,
    "Number": _numbers,
    "complex": _fixed({"kind": "complex", "real": 1.0, "imag": 0.5}),
    "bool": _fixed(literal(False), literal(True)),
    "str": Builder._strings,
    "bytes": _fixed({"kind": "bytes", "base64": ""}),
    "None": _fixed(NONE),
    "dtype": _fixed(*({"kind": "dtype", "name": name} for name in ("float32", "float64", "int64"))),
    "device": _fixed(_device()),
    "Module": lambda builder, _name, usage: builder._any_module(usage, 2),
    "Callable": _callables,
    "type": _fixed(
        {"kind": "function", "name": _RELU}, {"kind": "function", "name": "torch.nn.modules.linear:Identity"}
    ),
    "ProcessGroup": _fixed({"kind": "process-group"}),
    "DeviceMesh": _meshes,
    "slice": _fixed({"kind": "slice", "start": 0, "stop": 2, "step": None}),
    "ndarray": _fixed({"kind": "array", "shape": [4, 4], "dtype": "float32"}),
}
