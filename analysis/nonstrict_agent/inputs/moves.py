"""Changes to the arguments of a failed try, each with its cost: small, plausible changes cost little.

`neighbours` knows nothing of the error but which parameters it may be due to; what error messages say is in `repairs`.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from nonstrict_agent.inputs.shapes import SHAPES
from nonstrict_agent.inputs.specification import Spec, literal, nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict_agent.inputs.signature import Parameter, Reading
    from nonstrict_agent.inputs.trying import Choice

_LARGEST = 1 << 16  # elements of a tensor
_SIZES = (1, 2, 3, 4, 8, 16)
LEAST = 0.6  # what the cheapest neighbour costs more
_NUMBERS = (1, 2, 0, 4, 3, -1, 8)


def current(parameter: Parameter, choice: Choice) -> Spec | None:
    """What a parameter is given now, its default where it is left out."""
    return choice.get(parameter.name, parameter.default)


def changed(spec: Spec, change: Callable[[Spec], Spec | None]) -> Spec:
    """A copy of `spec` in which every specification is replaced by what `change` makes of it; None keeps it."""
    made = change(spec)
    if made is not None:
        return made
    return {key: _changed(value, change) for key, value in spec.items()}


def _changed(value: object, change: Callable[[Spec], Spec | None]) -> object:
    if isinstance(value, dict):
        return (
            changed(value, change) if "kind" in value else {key: _changed(each, change) for key, each in value.items()}
        )
    if isinstance(value, list) and value and not isinstance(value[0], int):
        return [_changed(each, change) for each in value]
    return value


def with_node(choice: Choice, name: str, whole: Spec, node: Spec, new: Spec) -> Choice:
    """`choice` with one node, told by identity, of what `name` is given replaced."""
    return {**choice, name: changed(whole, lambda each: new if each is node else None)}


def parts(reading: Reading, choice: Choice, names: Iterable[str] = ()) -> Iterator[tuple[str, Spec, Spec]]:
    """Parameter, its specification and each node of that, of all parameters or those named."""
    wanted = set(names)
    for parameter in reading.parameters:
        spec = current(parameter, choice)
        if spec is not None and (not wanted or parameter.name in wanted):
            for node in nodes(spec):
                yield parameter.name, spec, node


def shaped(node: Spec, shape: list[int]) -> Spec:
    """The tensor `node` with another shape; its strides are dropped."""
    return {**{key: value for key, value in node.items() if key != "strides"}, "shape": shape}


def typed(node: Spec, dtype: str) -> Spec:
    """The tensor `node` with another dtype, and a range that is valid for it."""
    kept = {key: value for key, value in node.items() if key not in {"low", "high", "ascending"}}
    integral = dtype in {"int64", "int32", "bool", "uint8"}
    return {**kept, "dtype": dtype, **({"low": 0, "high": 1} if integral else {})}


def is_number(node: Spec) -> bool:
    """Whether a node is an integer."""
    return node["kind"] == "literal" and type(node["value"]) is int


def resized(reading: Reading, choice: Choice, old: int, new: int, names: Iterable[str] = ()) -> Choice:
    """Every size and integer `old` made `new`, in all parameters or in those named."""

    def change(node: Spec) -> Spec | None:
        if node["kind"] == "tensor" and old in node["shape"]:
            return shaped(node, [new if size == old else size for size in node["shape"]])
        return literal(new) if is_number(node) and node["value"] == old else None

    return each_changed(reading, choice, change, names)


def each_changed(
    reading: Reading, choice: Choice, change: Callable[[Spec], Spec | None], names: Iterable[str] = ()
) -> Choice:
    """`change` applied to all nodes of all parameters or of those named; defaults that it changes are passed."""
    wanted = set(names)
    made = dict(choice)
    for parameter in reading.parameters:
        spec = current(parameter, choice)
        if spec is not None and (not wanted or parameter.name in wanted):
            new = changed(spec, change)
            if new != spec:
                made[parameter.name] = new
    return made


def ranked(node: Spec, rank: int) -> Spec:
    """The tensor `node` with `rank` dimensions: sizes are kept from the last on, or taken from the usual shapes."""
    shape = node["shape"]
    if rank <= len(shape):
        return shaped(node, shape[len(shape) - rank :])
    return shaped(node, [*SHAPES.get(rank, [1] * rank)[: rank - len(shape)], *shape])


def fits(choice: Choice) -> bool:
    """Whether all tensors are small and no size is negative."""
    return all(
        math.prod(node["shape"]) <= _LARGEST and min(node["shape"], default=0) >= 0
        for spec in choice.values()
        for node in nodes(spec)
        if node["kind"] == "tensor"
    )


def neighbours(reading: Reading, choice: Choice, blamed: tuple[str, ...]) -> Iterator[tuple[float, Choice]]:
    """All choices one change away; changes of what is not blamed cost more."""
    held = [node["value"] for _, _, node in parts(reading, choice) if is_number(node) and 0 < node["value"] <= 64]
    sizes = tuple(dict.fromkeys([*reading.sizes, *held, *_SIZES]))
    for parameter in reading.parameters:
        weight = 1.0 if parameter.name in blamed else 1.4 if not blamed else 2.0
        name = parameter.name
        spec = current(parameter, choice)
        for guess in parameter.guesses:
            if guess.spec != spec:
                yield (
                    weight * (0.6 + 0.8 * guess.cost) + (0.4 if parameter.optional else 0),
                    {**choice, name: guess.spec},
                )
        if parameter.optional and name in choice:
            yield weight, {key: value for key, value in choice.items() if key != name}
        if spec is None or (parameter.default is not None and name not in choice and name not in blamed):
            continue
        for node in list(nodes(spec))[:12]:
            for cost, new in _variants(node, sizes):
                if name == "self" and is_number(new) and new["value"] < 0:
                    continue  # sizes and counts, as a rule
                yield weight * cost, with_node(choice, name, spec, node, new)
    present = {size for _, _, node in parts(reading, choice) if node["kind"] == "tensor" for size in node["shape"]}
    for old in sorted(present):
        yield from ((1.6, _all_sizes(reading, choice, old, new)) for new in sizes if new != old)
    for rank in range(6):
        yield (
            2.0,
            each_changed(reading, choice, lambda node, rank=rank: ranked(node, rank) if _floating(node) else None),
        )


def _all_sizes(reading: Reading, choice: Choice, old: int, new: int) -> Choice:
    """One size made another in all tensors, but not where it is a number."""

    def change(node: Spec) -> Spec | None:
        if node["kind"] != "tensor" or old not in node["shape"]:
            return None
        return shaped(node, [new if size == old else size for size in node["shape"]])

    return each_changed(reading, choice, change)


def _floating(node: Spec) -> bool:
    return node["kind"] == "tensor" and node["dtype"] == "float32"


def _variants(node: Spec, sizes: tuple[int, ...]) -> Iterator[tuple[float, Spec]]:
    """Other values of one node."""
    if node["kind"] == "tensor":
        shape = node["shape"]
        for n, rank in enumerate((len(shape) + 1, len(shape) - 1)):
            if 0 <= rank <= 6:
                yield 1.0 + 0.1 * n, ranked(node, rank)
        for axis in range(len(shape)):
            for size in sizes:
                if size != shape[axis]:
                    yield 1.5, shaped(node, [*shape[:axis], size, *shape[axis + 1 :]])
        for dtype in ("float32", "int64", "bool", "complex64"):
            if dtype != node["dtype"]:
                yield 1.8, typed(node, dtype)
    elif is_number(node):
        yield from ((1.2 + 0.1 * n, literal(value)) for n, value in enumerate(_NUMBERS) if value != node["value"])
    elif node["kind"] == "literal" and type(node["value"]) is bool:
        yield 1.0, literal(not node["value"])


def other_values(reading: Reading, choice: Choice) -> Iterator[tuple[float, Choice]]:
    """The same shapes with values in other ranges: positive, within the unit interval, masks of ones, other indices."""
    for n, (low, high) in enumerate(((0.1, 0.9), (1.0, 3.0), (-3.0, -1.0), (-0.9, 0.9))):

        def change(node: Spec, low: float = low, high: float = high) -> Spec | None:
            return {**node, "low": low, "high": high} if node["kind"] == "tensor" and "float" in node["dtype"] else None

        yield 0.5 + 0.1 * n, each_changed(reading, choice, change)
    for n, (low, high) in enumerate(((1, 1), (0, 0), (0, 3), (1, 3))):

        def integers(node: Spec, low: int = low, high: int = high) -> Spec | None:
            integral = node["kind"] == "tensor" and ("int" in node["dtype"] or node["dtype"] == "bool")
            return {**node, "low": low, "high": high} if integral else None

        yield 0.5 + 0.1 * n, each_changed(reading, choice, integers)
    yield from _offsets(reading, choice)


def _offsets(reading: Reading, choice: Choice) -> Iterator[tuple[float, Choice]]:
    """Lists of integers that ascend to a size: where groups begin or end in a dimension."""
    listed = list(parts(reading, choice))
    sizes = {size for _, _, node in listed if node["kind"] == "tensor" for size in node["shape"] if size > 1}
    for name, spec, node in listed:
        if node["kind"] == "tensor" and len(node["shape"]) == 1 and "int" in node["dtype"]:
            for n, (low, size) in enumerate(itertools.product((0, 1), sorted(sizes, reverse=True)[:4])):
                new = {**node, "low": low * size // max(node["shape"][0], 1), "high": size, "ascending": True}
                yield 0.6 + 0.1 * n, with_node(choice, name, spec, node, new)
