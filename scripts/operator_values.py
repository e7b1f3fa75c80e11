"""Measurements for `generate_operators.py`: what operators make of the values of argument 0."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import operator_memory as memory
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Values of both signs, whole and not, small enough that no dtype of floating-point numbers rounds them.
VALUES = torch.tensor([[0.5, -1.25, 2.0, 0.75], [-0.5, 1.5, -2.5, 0.25], [3.0, -0.75, 1.0, -3.0]])
UNKNOWN = torch.tensor([[0.5, float("nan")], [float("inf"), -1.25]])
SAMPLES = (VALUES, VALUES[:, :3].contiguous(), torch.sigmoid(VALUES), VALUES[0].clone())

#: What is measured of a method with more arguments than of the function.
OF_BOTH = frozenset(
    {
        "permutes",
        "detaches",
        "folds",
        "folds_tensors",
        "settles",
        "changes",
        "takes_sizes",
        "specializes",
        "lays_out",
        "keeps_shape",
    }
)


def flags(function: Any, schemas: list[Any], known: set[str], *, method: bool, in_place: object) -> set[str]:
    """What `nonstrict.knowledge.operators.Operator` says of one function besides its effects, dtypes and shapes.

    `known` are the flags that are told already.
    """
    random = "random" in known
    found = {
        "casts": not in_place and memory.casts(function),
        "lays_out": not in_place and memory.lays_out(function),
        "permutes": memory.permutes(function, schemas, method=method),
        "detaches": memory.detaches(function, schemas, method=method),
        "keeps_values": not in_place and not random and keeps_values(function),
        "takes_sizes": not in_place and takes_sizes(function, schemas),
        "specializes": specializes(function, schemas),
        "joins": not method and memory.joins(function),
        "of_data": not in_place and of_data(function, method=method),
        "uninitialised": not in_place and is_uninitialised(function),
    }
    told = "" if random or found["uninitialised"] else again(function, schemas, method=method)
    changed = memory.changes_form(function) if method and in_place else set[str]()
    measured = {name for name, is_set in found.items() if is_set}
    measured |= memory.folds(function, schemas, known | measured, method=method)
    return measured | ({told} if told else set[str]()) | changed


def keeps_values(function: Any) -> bool:
    """Whether a function of a tensor alone, or of one and a dtype, gives the same values, maybe in another form."""
    operands = [VALUES, UNKNOWN, torch.ones(1, 2)]
    ways: tuple[list[Any], ...] = ([], [torch.float64])
    return memory.is_safe(function) and any(
        all(_same(memory.made(function, [one.clone(), *given]), one) for one in operands) for given in ways
    )


def _same(result: Any, operand: torch.Tensor) -> bool:
    return memory.is_plain(result) and result.shape == operand.shape and torch.equal(_exact(result), _exact(operand))


def _is_close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(_exact(one), _exact(other))


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(tensor.detach().to(torch.complex128).real, nan=12345.0)


def of_data(function: Any, *, method: bool) -> bool:
    """Whether a function makes a tensor of numbers or of an array of NumPy that holds them; a method of both."""
    data = (2.5, np.array([1.0, 2.5]))
    receiver = [VALUES] if method else []
    made = [memory.made(function, [*receiver, one]) for one in data] if memory.is_safe(function) else [None]
    told = [memory.is_plain(one) and one.flatten()[-1:].tolist() == [2.5] for one in made]
    return all(told) if method else any(told)


def again(function: Any, schemas: list[Any], *, method: bool) -> str:
    """What a function makes of its own result: `settles` if the same, `changes` if always another one, else "".

    One that leaves every sample as it is says nothing.
    """
    found: list[bool] = []
    for sample in (*SAMPLES, UNKNOWN) if memory.is_safe(function) else ():
        if sample is UNKNOWN and (found or not method):
            break  # only `nan_to_num` does nothing to the others; decompositions may crash on what is not a number
        for given in memory.arguments(function, schemas, sample, method=method):
            once = _values(memory.made(function, [sample.clone(), *given]))
            if once is not None and not _same(once, sample):
                once = once.clone()
                twice = _values(memory.made(function, [once.clone(), *given]))
                found += [_is_close(twice, once)] if twice is not None else []
    return "" if not found else "settles" if all(found) else "" if any(found) else "changes"


def _values(result: Any) -> torch.Tensor | None:
    """The tensor that a function gives, or the values of those that it gives with indices."""
    result = getattr(result, "values", result) if isinstance(result, tuple) else result
    return result if memory.is_plain(result) else None


def is_uninitialised(make: Any) -> bool:
    """Whether what a function makes of sizes holds whatever the memory held.

    In its deterministic mode torch fills such memory with NaN (`torch.utils.deterministic`).
    """
    sizes: tuple[list[Any], ...] = ([[2, 3]], [[2, 3], [3, 1]], [[2, 3], [0, 1]])
    ways = [*sizes, *([VALUES, *given] for given in sizes), [VALUES]]
    torch.use_deterministic_algorithms(True)
    try:
        made = [memory.made(make, [*given]) for given in ways]
    finally:
        torch.use_deterministic_algorithms(False)
    known = [one for one in made if memory.is_plain(one) and one.is_floating_point() and one.numel()]
    return bool(known) and all(bool(one.isnan().all()) for one in known)


def takes_sizes(function: Any, schemas: list[Any]) -> bool:
    """Whether a number that a function is given is a size of its result, or how many results there are."""
    for schema in schemas if memory.is_safe(function) else ():
        for required, at, sizes in _with_sizes(schema):
            given = {value: _given(required, at, value, sizes) for value in (1, 2, 3)}
            made = {value: _forms(memory.made(function, one)) for value, one in given.items()}
            if _follows({value: _sizes(form) for value, form in made.items() if form is not None}):
                return True
    return False


def specializes(function: Any, schemas: list[Any]) -> bool:
    """Whether a function wants to know a number that is a size, or says how many results there are: one from data."""
    for schema in schemas if memory.is_safe(function) else ():
        for required, at, sizes in _with_sizes(schema):
            environment = ShapeEnv()
            with FakeTensorMode(shape_env=environment), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                number = environment.create_unbacked_symint()
                torch._check(number >= 0)
                try:
                    function(*_given(required, at, number, sizes))
                except GuardOnDataDependentSymNode as refused:
                    if "specialized integer" in str(refused) and str(required[at].type) != "List[int]":
                        return True
                except memory.probes.REFUSALS:
                    continue
    return False


def _follows(sizes: dict[int, set[int]]) -> bool:
    """Whether one of the sizes is always the same multiple of the number: what is padded is not."""
    if len(sizes) < 2:
        return False
    return any(all(number * times in found for number, found in sizes.items()) for times in range(1, 37))


def _sizes(form: tuple[Any, ...]) -> set[int]:
    """The sizes of a result, or of the first of several and how many these are."""
    return {len(form), *_sizes(form[0])} if form and isinstance(form[0], tuple) else set(form)


#: What a size is called where the schema does not say that it is one.
_NAMED = frozenset({"end", "steps", "num_classes", "size", "n", "k", "chunks"})
#: Sizes that a tensor of six by six may be given, or its pieces may have.
_SIZES: tuple[Callable[[Any], list[Any]], ...] = (
    lambda value: [value, 36 // value],
    lambda value: [value, 6, 6],
    lambda value: [value, 6 - value],
)


def _with_sizes(schema: Any) -> Iterator[tuple[list[Any], int, Callable[[Any], list[Any]]]]:
    """Where calls of one schema take a size: a `SymInt`, which no dimension is, or one that is named."""
    required = [one for one in schema.arguments if not one.has_default_value()]
    for at, argument in enumerate(required):
        size = re.search(rf"SymInt\S* {argument.name}\b", str(schema)) is not None
        if size or (argument.name in _NAMED and str(argument.type) in ("int", "number")):
            for sizes in _SIZES:
                yield required, at, sizes


def _given(required: list[Any], at: int, value: Any, sizes: Callable[[Any], list[Any]]) -> list[Any]:
    """The arguments of a call of which one is a size, or a list of such."""
    plain = {"Tensor": torch.ones(6, 6), "float": 0.5, "bool": True, "List[int]": [1, 6]}
    given = [plain.get(str(one.type), 1) for one in required]
    given[at] = sizes(value) if str(required[at].type) == "List[int]" else value
    return given


def _forms(result: Any) -> tuple[Any, ...] | None:
    if memory.is_plain(result):
        return tuple(result.shape)
    if isinstance(result, (tuple, list)) and result:
        return tuple(_forms(one) for one in result)
    return None


def sizeless_members() -> list[str]:
    """Members of `torch.Tensor` that tell the same of tensors of several sizes, of one number of dimensions."""
    samples = [torch.ones(shape) * value for shape, value in itertools.product(((2, 3), (4, 5)), (1.0, 2.0))]
    found: list[str] = []
    for name in dir(torch.Tensor):
        told = [_told(one, name) for one in samples] if not name.startswith("_") else [None]
        if all(one is not None for one in told) and all(one == told[0] for one in told):
            found.append(name)
    return found


def _told(tensor: torch.Tensor, name: str) -> Any:
    """What a tensor tells by an attribute or a method without arguments; None if that is a tensor, or nothing."""
    try:
        member = getattr(tensor, name)
        member = member() if callable(member) and memory.is_safe(member) else member
    except (*memory.probes.REFUSALS, BufferError):
        return None
    plain = isinstance(member, (int, float, str, bool, torch.dtype, torch.device, torch.layout))
    return member if plain else None
