"""Measurements for `generate_operators.py`: which shape the results of operators have."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from typing import TYPE_CHECKING, Any

import operator_probes as probes
import operator_results as results
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What is given to operators that may be pointwise: the shapes of the first tensor, those of the further ones, and what
# they are broadcast to.
BROADCAST = (((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((), (4,), (4,)))
DTYPES = (torch.float32, torch.int64, torch.bool)
ALONE = ((2, 3), (4,), (), (1, 3, 4, 5), (3, 1))
POINTWISE_TYPES = frozenset({"Tensor", "number", "float", "bool", "str", "int"})


def is_pointwise(function: Any, schemas: list[Any], *, method: bool) -> bool:
    """Whether the result always has the shape that the tensors of a call are broadcast to, numbers left alone."""
    # Overloads that want one of several options are called as the others are: with a generator, a mode of rounding.
    ways = [way for way in probes.calls(function, schemas, method=method) if not _wants_option(way)]
    name = str(getattr(function, "__name__", ""))
    if name in probes.UNSAFE or name.startswith(probes.UNSAFE_FAMILIES) or not ways:
        return False
    if any(not POINTWISE_TYPES.issuperset(types) for types in ways) or _takes_any_number(function):
        return False
    seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for types in ways:
        several = "Tensor" in types
        for first, other, expected in BROADCAST if several else ((one, one, one) for one in ALONE):
            for dtype in DTYPES:
                got = _shapes(function, types, schemas, (first, other), dtype)
                if got - {expected}:
                    return False
                seen |= {(first, other) for _ in got}
        needed = {((2, 3), (3,)), ((2, 1), (1, 3))} if several else {((2, 3), (2, 3))}
        if not needed <= seen:
            return False
    return True


def _wants_option(types: list[str]) -> bool:
    return any(kind in ("Optional[str]", "Optional[Generator]") for kind in types)


def _takes_any_number(function: Any) -> bool:
    """Whether a Python function takes any number of positional arguments."""
    if inspect.isfunction(function):
        with contextlib.suppress(ValueError):
            return any(one.kind is one.VAR_POSITIONAL for one in inspect.signature(function).parameters.values())
    return False


def _shapes(
    function: Any, types: list[str], schemas: list[Any], shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: Any
) -> set[tuple[int, ...]]:
    """The shapes of the results of a call, as it is and with each of its optional arguments."""
    tensor, other = (torch.ones(shape).to(dtype) for shape in shapes)
    optional = [{name: value} for name, (_, value) in results.optional(function, types, schemas, tensor).items()]
    found = set[tuple[int, ...]]()
    for first_number, named in itertools.product((0, 1, 2), ({}, *optional)):
        numbers = itertools.count(first_number)
        given = [next(numbers) if kind == "int" else probes.filler(kind, other) for kind in types]
        result = results.run(function, [tensor, *given], named)
        if result is not None:
            plain = isinstance(result, torch.Tensor) and not result.is_nested
            found.add(tuple(result.shape) if plain else (-1,))
    return found


# The shapes of the first tensor and of the further ones of a call whose result may be of the shape of the first.
FIRSTS = ((2, 5), (4, 4), (3,), (), (1, 4, 4, 4))
OTHERS = ((4,), (2, 2), (2,), (), (1, 4), (2, 4, 4), (16,), (2, 5), (4, 4))
OTHER_DTYPES = (None, torch.float32, torch.int64, torch.bool)
LISTS = {"List[int]": ([0], [1, 0]), "List[SymInt]": ([1], [4], [3, 3], [2, 2])}
NUMBERS = {"int": (0, 1, 2), "SymInt": (1, 2, 3), "number": (1,), "float": (0.5,), "bool": (True,), "str": ("mean",)}


def keeps_shape(function: Any, schemas: list[Any], *, method: bool) -> bool:
    """Whether every result has the shape of the first argument, whatever the further ones are."""
    ways = [way for way in probes.calls(function, schemas, method=method) if not _wants_option(way)]
    name = str(getattr(function, "__name__", ""))
    if name in probes.UNSAFE or name.startswith(probes.UNSAFE_FAMILIES) or not ways or _takes_any_number(function):
        return False
    known = [way for way in ways if all(kind == "Tensor" or kind in LISTS or kind in NUMBERS for kind in way)]
    found = [_keeps(function, way, schemas) for way in known]
    if not any(one is not None for one in found):
        return _keeps_when_written(function)
    return True in found and False not in found


def _keeps_when_written(function: Any) -> bool:
    """The same of what puts a tensor into a part of another one, and wants it to be as large as that part."""
    index, mask = torch.tensor([1, 0]), torch.ones(4, dtype=torch.bool)
    ways: list[list[Any]] = [
        *([at, index, torch.ones(2, 4) if at == 0 else torch.ones(4, 2)] for at in (0, 1)),
        *([[index], torch.ones(size)] for size in ((2, 4), (4,))),
        *([one, torch.ones(32)] for one in (mask, mask.expand(4, 4), mask.expand(2, 4, 4))),
        *([torch.ones(4), at, 1] for at in (0, 1)),
        *([torch.ones(2, 4), 0, start, start + 2] for start in (0, 1)),
    ]
    made = [one for way in ways if (one := results.run(function, [torch.ones(4, 4), *way], {})) is not None]
    return len(made) > 1 and all(_has_shape(one, (4, 4)) for one in made)


def _keeps(function: Any, types: list[str], schemas: list[Any]) -> bool | None:
    """Whether one way to call a function gives the shape of its first argument; None if no argument tells."""
    several = "Tensor" in types
    seen = False
    others, other_dtypes = (OTHERS, OTHER_DTYPES) if several else (((),), (None,))
    for first, dtype, other, other_dtype in itertools.product(FIRSTS, DTYPES, others, other_dtypes):
        tensor, further = torch.ones(first).to(dtype), torch.zeros(other).to(other_dtype or dtype)
        made = list(_results(function, tensor, _arguments(types, further), schemas, types))
        if not all(_has_shape(one, first) for one in made):
            return False
        seen |= bool(made) and len(first) > 1 and (not several or other != first)
    return seen or None


def _results(
    function: Any, tensor: torch.Tensor, ways: list[list[Any]], schemas: list[Any], types: list[str]
) -> Iterator[Any]:
    """What the calls that torch takes give, as they are and with each of their optional arguments."""
    optional = [{key: value} for key, (_, value) in results.optional(function, types, schemas, tensor).items()]
    for given in ways:
        made = results.run(function, [tensor, *given], {})
        if made is not None:
            yield made
            with_options = (results.run(function, [tensor, *given], named) for named in optional)
            yield from (one for one in with_options if one is not None)


def _has_shape(made: Any, shape: tuple[int, ...]) -> bool:
    """Whether a result, or each of several, is a tensor of a shape."""
    pieces = made if isinstance(made, (tuple, list)) else [made]
    return all(isinstance(one, torch.Tensor) and not one.is_nested and one.shape == shape for one in pieces)


def _arguments(types: list[str], further: torch.Tensor) -> list[list[Any]]:
    """The further arguments of a call; those of one type differ, as dimensions have to that are exchanged."""
    lists = any(kind in LISTS for kind in types)
    turns = range(3) if any(len(NUMBERS.get(kind, ())) > 1 for kind in types) else range(1)
    choices: list[list[Any]] = []
    for choice, turn in itertools.product(range(4) if lists else range(1), turns):
        numbers = {kind: itertools.islice(itertools.cycle(values), turn, None) for kind, values in NUMBERS.items()}
        choices.append([_argument(kind, choice, numbers, further) for kind in types])
    return choices


def _argument(kind: str, choice: int, numbers: Mapping[str, Iterator[Any]], further: torch.Tensor) -> Any:
    if kind in LISTS:
        return LISTS[kind][choice % len(LISTS[kind])]
    return further if kind == "Tensor" else next(numbers[kind])


# Sizes that are not those of a vector of five elements, however it is viewed.
SIZES = ((2, 3), (4,), (0, 3))


def takes_sizes(function: Any, schemas: list[Any], *, method: bool) -> set[str]:
    """`sized` if the first argument, behind that of a method, is the shape of the result; `spread` if also one by one.

    Source of what may be one: the schemas, in which such an argument is called `size`.
    """
    at = 1 if method else 0
    if not any(len(each.arguments) > at and each.arguments[at].name == "size" for each in schemas):
        return set()
    own = [torch.ones(5)] if method else []
    together = [_first_of(function, [[*own, size], [*own, size, 1], [*own, size, _strides(size)]]) for size in SIZES]
    if any(made is None or tuple(made.shape) != size for made, size in zip(together, SIZES, strict=True)):
        return set()
    apart = [_first_of(function, [[*own, *size]]) for size in SIZES]
    spread = all(made is not None and tuple(made.shape) == size for made, size in zip(apart, SIZES, strict=True))
    return {"sized", "spread"} if spread else {"sized"}


def later_sizes(function: Any, schemas: list[Any]) -> set[int]:
    """The positions behind numbers at which an argument is the shape of the result: `torch.randint(low, high, size)`.

    Source of what may be one: as for `takes_sizes`. Each overload has its own.
    """
    found: set[int] = set()
    for schema in schemas:
        names = [one.name for one in schema.arguments]
        at = names.index("size") if "size" in names else 0
        types = [str(one.type) for one in schema.arguments[: at + 1]]
        if not at or types.pop() not in LISTS or not NUMBERS.keys() >= {*types}:
            continue
        made = [_first_of(function, [[*range(1, at + 1), size]]) for size in SIZES]
        if all(one is not None and tuple(one.shape) == size for one, size in zip(made, SIZES, strict=True)):
            found.add(at)
    return found


def _first_of(function: Any, ways: list[list[Any]]) -> torch.Tensor | None:
    """The tensor that the first of several calls gives that torch takes."""
    made = (results.run(function, arguments, {}) for arguments in ways)
    return next((one for one in made if isinstance(one, torch.Tensor) and one.layout is torch.strided), None)


def _strides(size: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(len(size), 0, -1))


# What stands before the dimension: the order of a norm, the rank of an element.
BEFORE: dict[str, Any] = {"number": 2, "Optional[number]": 2, "float": 0.5, "int": 1, "SymInt": 1}


def reduced_dimension(function: Any, schemas: list[Any]) -> int:
    """The position of the argument `dim` over which a function reduces: its results do not have this dimension.

    0 for all others, also for views, which take one element out or cut along the dimension.
    """
    found: set[int] = set()
    for schema in schemas:
        names = [one.name for one in schema.arguments]
        kinds = [str(one.type) for one in schema.arguments]
        pieces = any("List" in str(one.type) for one in schema.returns)
        at = names.index("dim") if "dim" in names and not pieces else 0
        if at and kinds[:at].count("Tensor") == 1 and kinds[0] == "Tensor" and _reduces(function, kinds[1:at]):
            found.add(at)
    return min(found, default=0)


def _reduces(function: Any, kinds: list[str]) -> bool:
    """Whether results lose the dimension that stands behind arguments of some types."""
    made: list[Any] = []
    for dtype in DTYPES:
        tensor = torch.ones(2, 3, 4).to(dtype)
        if BEFORE.keys() >= set(kinds):
            made.append(results.run(function, [tensor, *(BEFORE[kind] for kind in kinds), 1], {}))
    known = [one for one in made if one is not None]
    return bool(known) and all(_has_shape(one, (2, 4)) for one in known)
