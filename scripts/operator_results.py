"""Measurements for `generate_operators.py`: which dtype the results of operators have."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import warnings
from dataclasses import dataclass, field
from typing import Any

import operator_memory as memory
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

# What takes whole numbers on an accelerator, and refuses them on the processor, where the others are asked.
# Source: `_histc_cuda` in aten/src/ATen/native/cuda/SummaryOps.cu.
WHOLE_ELSEWHERE = frozenset({"histc"})


@dataclass
class Table:
    """The dtypes of the results by those of the arguments, and the optional arguments that change them."""

    rows: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict[tuple[Any, ...], tuple[Any, ...]])
    switches: dict[str, int] = field(default_factory=dict[str, int])
    unequal: bool = False
    #: whether every only result has the dtype to which torch promotes those of the tensors and numbers of a call
    promoted: bool = True


@dataclass(frozen=True)
class Dtypes:
    """What `Operator.dtypes` and `Operator.floating` say of one function."""

    rule: str = ""
    floating: bool = False


def dtypes(function: Any, schemas: list[Any], *, method: bool) -> Dtypes:
    """The dtypes of the results of one function: no rule where they follow from more than its first argument."""
    name = str(getattr(function, "__name__", ""))
    if name in probes.UNSAFE or name.startswith(probes.UNSAFE_FAMILIES):
        return Dtypes()
    if any("[Tensor]" in str(one.type) or str(one.type) == "Tensor[]" for each in schemas for one in each.returns):
        return Dtypes()  # as many pieces as sizes say
    wanted = [one for each in schemas for one in each.arguments if one.name == "dtype" and not one.has_default_value()]
    if any(not one.kwarg_only for one in wanted):
        return Dtypes()  # `x.view(dtype)`
    table = Table()
    for types in probes.calls(function, schemas, method=method):
        for shape, first, other in itertools.product(SHAPES, (*FLOATS, *WHOLE), OTHERS):
            if other is None or any("Tensor" in kind for kind in types):
                _measure(function, types, shape, (first, other), table, schemas)
    if not table.rows and method:
        _measure_more(function, schemas, table)
    rule = _rule(table)
    known = bool(table.rows) and name not in WHOLE_ELSEWHERE
    floating = known and all(len(one) == 1 and one[0] in FLOATS for one in table.rows.values())
    switches = (
        (_further(schemas) if floating and not rule else {})
        | dict.fromkeys([one.name for one in wanted], 0)
        | table.switches
    )
    told = ",".join(f"{switch}@{at}" if at else switch for switch, at in sorted(switches.items()))
    if rule in ("float32", "floats:float32"):
        rule = _of_default(rule, function, probes.calls(function, schemas, method=method))
    return Dtypes(f"{rule}/{told}" if (rule or floating) and told else rule, floating)


def _measure_more(function: Any, schemas: list[Any], table: Table) -> None:
    """A method that takes none of the usual arguments: `permute` wants the right number of dimensions."""
    table.promoted = False
    for first in (*FLOATS, *WHOLE):
        operand = torch.ones(3, 3).to(first)
        for given in memory.arguments(function, schemas, operand, method=True):
            result = _dtypes(function, [operand, *given], {})
            if result is not None:
                table.unequal |= table.rows.setdefault((first, None, ()), result) != result


# What is given to functions that make tensors of numbers and sizes alone.
MADE_OF: dict[str, Any] = {"int": 3, "SymInt": 3, "List[int]": (2, 3), "List[SymInt]": (2, 3)}


def of_sizes(function: Any, schemas: list[Any]) -> Dtypes:
    """The dtype of what a function makes of sizes: one whatever they are, `default` for the default dtype."""
    # What takes numbers by the name `t` takes data: TorchScript's `tensor(int t)`.
    needed = [[one for one in each.arguments if not one.has_default_value()] for each in schemas]
    ways = [[str(one.type) for one in each] for each in needed if each and each[0].name != "t"]
    ways = [way for way in ways if MADE_OF.keys() >= set(way)]
    found: list[set[Any]] = []
    for default in (torch.float32, torch.float64):
        torch.set_default_dtype(default)
        made = (run(function, [MADE_OF[kind] for kind in way], {}) for way in ways)
        found.append({one.dtype for one in made if isinstance(one, torch.Tensor)})
    torch.set_default_dtype(torch.float32)
    if found == [{torch.float32}, {torch.float64}]:
        return Dtypes("default/dtype", floating=True)
    return Dtypes(f"{_named(next(iter(found[0])))}/dtype") if found[0] == found[1] and len(found[0]) == 1 else Dtypes()


def _further(schemas: list[Any]) -> dict[str, int]:
    """What chooses among the overloads of a function because one of them has to be given it: `rounding_mode`."""
    required = [{one.name for one in each.arguments if not one.has_default_value()} for each in schemas]
    words = {one.name for each in schemas for one in each.arguments if one.kwarg_only and "str" in str(one.type)}
    return dict.fromkeys(words & set[str]().union(*required) - set.intersection(*required), 0) if required else {}


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


def run(function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
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
        if result is None and types.count("Tensor") > 1:
            # The further ones may be of several kinds: a mask or positions, and values for the first.
            given[_last_tensor(types)] = first.clone()
            result = _dtypes(function, [first, *given], {})
        if result is None:
            _measure_bounds(function, first, types, schemas, table)
            continue
        key = (*dtypes, numbers)
        table.unequal |= table.rows.setdefault(key, result) != result
        table.promoted &= len(result) > 1 or result == (_promoted([first, *given], types),)
        for switch, (at, value) in optional(function, types, schemas, first).items():
            changed = _dtypes(function, [first, *given], {switch: value})
            if changed is not None and changed != result:
                table.switches[switch] = at


def _measure_bounds(function: Any, first: torch.Tensor, types: list[str], schemas: list[Any], table: Table) -> None:
    """A function that wants one of several optional numbers or tensors: `clamp`."""
    told = [one for each in schemas for one in each.arguments if one.has_default_value()] if not types else []
    bounds = sorted({one.name for one in told if str(one.type) == "Optional[number]"})
    for name, bound in itertools.product(bounds, (1, 0.5, torch.ones_like(first, dtype=torch.float64))):
        result = _dtypes(function, [first], {name: bound})
        if result is not None:
            key = (first.dtype, torch.float64, ()) if isinstance(bound, torch.Tensor) else (first.dtype, None, (bound,))
            table.unequal |= table.rows.setdefault(key, result) != result
            table.promoted &= result == (_promoted([first, bound], ["number"]),)


def _promoted(arguments: list[Any], types: list[str]) -> Any:
    """The dtype to which torch promotes the tensors and numbers of a call."""
    first, *further = arguments
    found = first.dtype
    for kind, one in zip(types, further, strict=True):
        if kind in ("Tensor", "number", "float"):
            same_rank = torch.ones(3).to(one.dtype) if isinstance(one, torch.Tensor) else one
            found = torch.result_type(torch.ones(3).to(found), same_rank)
    return found


def _last_tensor(types: list[str]) -> int:
    return len(types) - 1 - types[::-1].index("Tensor")


def optional(function: Any, types: list[str], schemas: list[Any], first: torch.Tensor) -> dict[str, tuple[int, Any]]:
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
    result = run(function, arguments, named)
    if isinstance(result, torch.Tensor):
        return (result.dtype,)
    several = isinstance(result, tuple) and len(result) > 1
    return tuple(one.dtype for one in result) if several and probes.result_kind(result) == "tensors" else None


def _rule(table: Table) -> str:
    counts = sorted({len(result) for result in table.rows.values()})
    rules = [_rule_of_results(table, count) for count in counts]
    # What gives one tensor may give several where it is told a dimension.
    known = len(counts) == 1 or (len(counts) == 2 and counts[0] == 1)
    return "|".join(rules) if known and all(rules) and not table.unequal else ""


def _rule_of_results(table: Table, count: int) -> str:
    """What holds of the results of the calls that give so many."""
    rows = {key: result for key, result in table.rows.items() if len(result) == count}
    told = [_rule_of([(key, result[at]) for key, result in rows.items()]) for at in range(count)]
    if told == [""] and table.promoted:
        return "promoted"
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
    if all(result is (torch.uint8 if key[0] is torch.uint8 else torch.bool) for key, result in rows):
        return "truths"
    if floats and all(floats):
        return f"floats:{_named(whole.pop())}" if len(whole) == 1 else "floats"
    return ""


def _named(dtype: Any) -> str:
    return str(dtype).partition(".")[2]
