"""Measurements for `generate_operators.py`: which dtype and shape the results of operators have."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import warnings
from dataclasses import dataclass, field
from typing import Any

import operator_probes as probes
import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WHOLE = (torch.int64, torch.int32, torch.uint8, torch.bool)
# Dtypes of the further tensors of a call, beside that of the first.
OTHERS = (None, torch.float64, torch.int64, torch.int32, torch.bool)
SHAPES = ((3, 3), (3,), (), (1, 3, 4, 4))
# An optional argument of each type, to see whether it changes the dtype.
OPTIONAL: dict[str, Any] = {
    "bool": True,
    "number": 0.5,
    "float": 0.5,
    "int": 1,
    "SymInt": 1,
    "Optional[bool]": True,
    "Optional[number]": 0.5,
    "Optional[int]": 2,
    "Optional[SymInt]": 2,
    "Optional[List[int]]": (2, 2),
    "Optional[List[SymInt]]": (2, 2),
}


@dataclass
class Table:
    """The dtypes of the results by those of the arguments, and the optional arguments that change them."""

    rows: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict[tuple[Any, ...], tuple[Any, ...]])
    switches: dict[str, int] = field(default_factory=dict[str, int])
    unequal: bool = False


def dtype_rule(function: Any, schemas: list[Any], *, method: bool) -> str:
    """What `Operator.dtype` says of one function: "" where the dtype follows from more than its first argument."""
    name = str(getattr(function, "__name__", ""))
    if name in probes.UNSAFE or name.startswith(probes.UNSAFE_FAMILIES):
        return ""
    if any("[Tensor]" in str(one.type) or str(one.type) == "Tensor[]" for each in schemas for one in each.returns):
        return ""  # as many pieces as sizes say
    if any(one.name == "dtype" and not one.has_default_value() for each in schemas for one in each.arguments):
        return ""
    table = Table()
    for types in probes.calls(function, schemas, method=method):
        for shape, first, other in itertools.product(SHAPES, (*FLOATS, *WHOLE), OTHERS):
            if other is None or any("Tensor" in kind for kind in types):
                _measure(function, types, shape, (first, other), table, schemas)
    rule = _rule(table)
    told = ",".join(f"{switch}@{at}" if at else switch for switch, at in sorted(table.switches.items()))
    if rule in ("float32", "floats:float32"):
        rule = _of_default(rule, function, probes.calls(function, schemas, method=method))
    return f"{rule}/{told}" if rule and told else rule


def _of_default(rule: str, function: Any, ways: list[list[str]]) -> str:
    """The rule, with `default` for `float32` where that is only the default dtype."""
    torch.set_default_dtype(torch.float64)
    try:
        table = Table()
        for types, shape, first in itertools.product(ways, SHAPES, (torch.float32, torch.int64)):
            _measure(function, types, shape, (first, None), table, [])
        dtypes = {result[0] for key, result in table.rows.items() if key[0] is torch.int64 or rule == "float32"}
        return rule if dtypes == {torch.float32} else rule.replace("float32", "default")
    finally:
        torch.set_default_dtype(torch.float32)


# What is given to operators that may be pointwise: the shapes of the first tensor, those of the further ones, and what
# they are broadcast to.
BROADCAST = (((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((), (4,), (4,)))
ALONE = ((2, 3), (4,), (), (1, 3, 4, 5), (3, 1))
POINTWISE_TYPES = frozenset({"Tensor", "number", "float", "bool", "str", "int"})


def is_pointwise(function: Any, schemas: list[Any], *, method: bool) -> bool:
    """Whether the result always has the shape that the tensors of a call are broadcast to, numbers left alone."""
    # A mode of rounding is all that a word chooses among numbers.
    ways = [way for way in probes.calls(function, schemas, method=method) if "Optional[str]" not in way]
    name = str(getattr(function, "__name__", ""))
    if name in probes.UNSAFE or name.startswith(probes.UNSAFE_FAMILIES) or not ways:
        return False
    if any(not POINTWISE_TYPES.issuperset(types) for types in ways) or _takes_any_number(function):
        return False
    seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for types in ways:
        several = "Tensor" in types
        for first, other, expected in BROADCAST if several else ((one, one, one) for one in ALONE):
            for dtype in (torch.float32, torch.int64, torch.bool):
                got = _shapes(function, types, schemas, (first, other), dtype)
                if got - {expected}:
                    return False
                seen |= {(first, other) for _ in got}
        needed = {((2, 3), (3,)), ((2, 1), (1, 3))} if several else {((2, 3), (2, 3))}
        if not needed <= seen:
            return False
    return True


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
    optional = [{name: value} for name, (_, value) in _optional(function, types, schemas, tensor).items()]
    found = set[tuple[int, ...]]()
    for first_number, named in itertools.product((0, 1), ({}, *optional)):
        numbers = itertools.count(first_number)
        given = [next(numbers) if kind == "int" else probes.filler(kind, other) for kind in types]
        result = _run(function, [tensor, *given], named)
        if result is not None:
            plain = isinstance(result, torch.Tensor) and not result.is_nested
            found.add(tuple(result.shape) if plain else (-1,))
    return found


def _run(function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
    """The result of one run; None where it is refused."""
    copies = [one.clone() if isinstance(one, torch.Tensor) else one for one in arguments]
    with warnings.catch_warnings(), torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            return function(*copies, **named)
        except probes.REFUSALS:
            return None


def _measure(
    function: Any, types: list[str], shape: tuple[int, ...], dtypes: tuple[Any, Any], table: Table, schemas: list[Any]
) -> None:
    """One way to call a function, with numbers of each type, and with each of its optional arguments."""
    first, other = torch.ones(shape).to(dtypes[0]), torch.ones(shape).to(dtypes[1] or dtypes[0])
    chosen = {"number": (1, 0.5), "int": (0, 1)}
    for numbers in itertools.product(*(values for kind, values in chosen.items() if kind in types)):
        filled = dict(zip((kind for kind in chosen if kind in types), numbers, strict=True))
        try:
            given = [filled[kind] if kind in filled else probes.filler(kind, other) for kind in types]
        except KeyError:
            return
        result = _dtypes(function, [first, *given], {})
        if result is None:
            continue
        key = (*dtypes, numbers)
        table.unequal |= table.rows.setdefault(key, result) != result
        for switch, (at, value) in _optional(function, types, schemas, first).items():
            changed = _dtypes(function, [first, *given], {switch: value})
            if changed is not None and changed != result:
                table.switches[switch] = at


def _optional(function: Any, types: list[str], schemas: list[Any], first: torch.Tensor) -> dict[str, tuple[int, Any]]:
    """Values for the optional arguments of a function, each with its position, 0 if it is given by name only."""
    found: dict[str, tuple[int, Any]] = {}
    for schema in schemas:
        required = [str(one.type) for one in schema.arguments if not one.has_default_value()]
        if required[1:] != types:
            continue
        for at, argument in enumerate(schema.arguments):
            if argument.has_default_value():
                value = _value(argument.name, str(argument.type), first)
                found[argument.name] = (0 if argument.kwarg_only else at, value)
    if inspect.isfunction(function):
        with contextlib.suppress(ValueError):
            for at, one in enumerate(inspect.signature(function).parameters.values()):
                if one.default is not one.empty:
                    kind = "bool" if isinstance(one.default, bool) else ""
                    found[one.name] = (0 if one.kind is one.KEYWORD_ONLY else at, _value(one.name, kind, first))
    return {name: pair for name, pair in found.items() if pair[1] is not None}


def _value(name: str, kind: str, first: torch.Tensor) -> Any:
    if name == "dtype":
        return torch.float64 if first.dtype != torch.float64 else torch.float32
    return torch.ones_like(first, dtype=torch.float64) if kind == "Optional[Tensor]" else OPTIONAL.get(kind)


def _dtypes(function: Any, arguments: list[Any], named: dict[str, Any]) -> tuple[Any, ...] | None:
    """The dtypes of the results of one run; None where it is refused, or gives something else than tensors."""
    result = _run(function, arguments, named)
    if isinstance(result, torch.Tensor):
        return (result.dtype,)
    several = isinstance(result, tuple) and len(result) > 1
    return tuple(one.dtype for one in result) if several and probes.result_kind(result) == "tensors" else None


def _rule(table: Table) -> str:
    lengths = {len(result) for result in table.rows.values()}
    if table.unequal or len(lengths) != 1:
        return ""
    told = [_rule_of([(key, result[at]) for key, result in table.rows.items()]) for at in range(lengths.pop())]
    return ",".join(told) if all(told) else ""


def _rule_of(rows: list[tuple[tuple[Any, ...], Any]]) -> str:
    """What holds of one result for every dtype of the arguments."""
    results = {result for _, result in rows}
    if len({key[:2] for key, _ in rows}) == 1 and not results <= set(WHOLE):
        # It takes one dtype of floating-point numbers only, or the others would need other samples.
        return ""
    floats = [result is key[0] for key, result in rows if key[0] in FLOATS]
    whole = {result for key, result in rows if key[0] in WHOLE}
    if len(results) == 1:
        return _named(results.pop())
    if all(result is key[0] for key, result in rows):
        return "same"
    if floats and all(floats):
        return f"floats:{_named(whole.pop())}" if len(whole) == 1 else "floats"
    return ""


def _named(dtype: Any) -> str:
    return str(dtype).partition(".")[2]
