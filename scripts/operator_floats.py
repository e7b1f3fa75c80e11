"""Measurements for `generate_operators.py`: what becomes of a Python number that is given to an operator in a graph.

From its second value on Dynamo has a `float` that varies as an input of the graph. Behind it AOTAutograd puts a tensor
in its place where an operator computes with it (`torch/fx/passes/_tensorify_python_scalars.py`); what else is done
with it takes it for a constant, and guards that. Inductor keeps what AOTAutograd made in a cache whose key is the graph
of Dynamo, where the number is not a constant, and whose entries do not have that guard: the next value gets the graph
of the one before, and its constant. Where no operator takes the number as a tensor, Dynamo starts again with a constant
in its own graph, and nothing is wrong.

So an operator is called with three values and compiled up to where Inductor would begin: that takes a hundredth of
the time. `tests/knowledge/test_operator_floats.py` compares with what Inductor does.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import sys
import types
import unittest
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.autograd_cache import check_cacheable
from torch._inductor.decomposition import select_decomp_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

#: What a schema calls the type of a parameter that takes such a number.
_TYPES = frozenset({"float", "number", "Scalar", "Optional[float]", "Optional[number]", "Optional[Scalar]"})
#: The same as annotations write it.
_ANNOTATION = re.compile(r"\b(float|Number|Scalar|NumberType)\b")
_LISTS = re.compile(r"list\[|List\[|[Tt]uple\[|Sequence\[")
#: How many calls are tried for one parameter, and with how many values each.
_CALLS = 12
_BASES = (0.5, 1.5, 0.05)
#: Operators that are not run: see `operator_probes.UNSAFE`.
_NOT_RUN = re.compile(r"backward|register|storage|share_memory|_like_|quantized|fbgemm|mkldnn|cudnn|miopen|set_num")


class Number(NamedTuple):
    """A parameter that takes a number: its name, and its position if it has one (0 is the first argument)."""

    name: str
    position: int | None

    def __str__(self) -> str:
        return self.name if self.position is None else f"{self.name}@{self.position}"


#: What becomes of a number: a tensor in its place is part of the graph; it is a constant of AOTAutograd's graph;
#: Dynamo knows it, but not what it was computed of.
TENSORIFIED, SPECIALIZED, KNOWN = "tensorified", "specialized", "known"


@dataclass
class Call:
    """A call with a number left open: by position, or by name."""

    given: list[Any]
    named: dict[str, Any]
    at: int | str
    base: float


def described(functions: Iterable[str], methods: Iterable[str], schemas: Callable[[str], list[Any]]) -> dict[str, str]:
    """By operator what becomes of numbers that it is given, by parameter: `p@1:specialized weight:known`."""
    found = {name: _of(_function(name), schemas, method=False) for name in functions}
    found |= {f"torch.Tensor.{name}": _of(getattr(torch.Tensor, name), schemas, method=True) for name in methods}
    return {name: told for name, told in found.items() if told}


def stored(folder: Path) -> dict[str, str]:
    """The same, as the data file in a folder has it."""
    return json.loads((folder / "operators.json").read_text(encoding="utf-8"))["floats"]


def _function(name: str) -> Any:
    module, _, name = name.rpartition(".")
    return getattr(sys.modules[module], name)


def _of(function: Any, schemas: Callable[[str], list[Any]], *, method: bool) -> str:
    name = str(getattr(function, "__name__", ""))
    internal = name.startswith("_") and not method
    if internal or _NOT_RUN.search(name) or "nn.init" in str(getattr(function, "__module__", "")):
        return ""
    plain = [schema for schema in schemas(name) if not any(one.is_out for one in schema.arguments)]
    found = ((one, measured(function, name, one, method=method)) for one in numbers(function, name, plain))
    return " ".join(f"{one}:{kind}" for one, kind in found if kind)


#: Methods that Python's operators call; what stands behind them has another name.
_OPERATORS = {
    **dict.fromkeys(("truediv", "rtruediv", "itruediv", "rdiv"), "div"),
    **dict.fromkeys(("floordiv", "rfloordiv", "ifloordiv"), "floor_divide"),
    **dict.fromkeys(("mod", "rmod", "imod"), "remainder"),
    **{f"{kind}{name}": name for name in ("add", "sub", "mul", "pow") for kind in ("", "r", "i")},
    **{name: name for name in ("lt", "le", "gt", "ge", "eq", "ne")},
}


def numbers(function: Any, name: str, schemas: list[Any]) -> list[Number]:
    """The parameters that take a number that need not be whole."""
    if name.startswith("__"):
        return [Number("other", 1)] if name.strip("_") in _OPERATORS else []
    found: dict[str, Number] = {}
    for schema in schemas:
        for position, argument in enumerate(schema.arguments):
            if str(argument.type) in _TYPES:
                number = Number(argument.name, None if argument.kwarg_only else position)
                found.setdefault(argument.name, number)
    if inspect.isfunction(function):
        with contextlib.suppress(ValueError):
            found = _of_signature(function) or found
    return list(found.values())


def _of_signature(function: Any) -> dict[str, Number]:
    found: dict[str, Number] = {}
    for position, one in enumerate(inspect.signature(function).parameters.values()):
        note = one.annotation if isinstance(one.annotation, str) else inspect.formatannotation(one.annotation)
        written = _ANNOTATION.search(note) and not _LISTS.search(note)
        if written or type(one.default) is float:
            found[one.name] = Number(one.name, None if one.kind is one.KEYWORD_ONLY else position)
    return found


def measured(function: Any, name: str, number: Number, *, method: bool) -> str:
    """What becomes of a number that is given to an operator; "" if no call is known that takes it."""
    for call in _calls(function, name, number, method=method):
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind := becomes(function, call):
                return kind
    return ""


def becomes(function: Any, call: Call) -> str:
    """What becomes of the number of a call, seen by what it does to others beside it; "" if it does nothing."""
    values, beside = _values(call.base), torch.ones(2)

    def tells(other: Callable[[Any, float], Any], factor: float = 1.0) -> bool:
        def program(given: Any, named: Any, tensor: Any, value: float) -> Any:
            scaled = value if factor == 1.0 else value * factor
            return _call(function, given, named, call.at, scaled), other(tensor, value)

        return is_stale(program, lambda: (_copies(call.given), _copies(call.named), beside.clone()), values)

    if tells(_taken_as_constant):
        return TENSORIFIED
    if tells(_computed):
        return SPECIALIZED
    return KNOWN if tells(_computed, 0.99) else ""


def _computed(tensor: Any, value: float) -> Any:
    return tensor * value


def _taken_as_constant(tensor: Any, value: float) -> Any:
    return torch.clamp(tensor, value)


def _calls(function: Any, name: str, number: Number, *, method: bool) -> Iterator[Call]:
    """Calls of the function that take the number; those of torch's own tests, with it in the place of another."""
    default = _default(function, number)
    tried = 0
    for given, named in samples(name):
        call = _with(list(given), dict(named), number, default)
        if call is None or (method and not isinstance(call.given[0], torch.Tensor)):
            continue
        for base in dict.fromkeys([call.base, *_BASES]):
            one = Call(call.given, call.named, call.at, base)
            if _runs(function, one):
                yield one
                tried += 1
                break
        if tried >= _CALLS:
            return


def _default(function: Any, number: Number) -> float:
    with contextlib.suppress(ValueError, TypeError, KeyError):
        default = inspect.signature(function).parameters[number.name].default
        if isinstance(default, (int, float)) and default:
            return float(default)
    return _BASES[0]


def _with(given: list[Any], named: dict[str, Any], number: Number, default: float) -> Call | None:
    at: int | str = number.name
    held = named.get(number.name)
    if number.position is not None and number.position < len(given):
        at, held = number.position, given[number.position]
    elif number.position is not None and number.position == len(given) and number.name not in named:
        at = number.position
        given.append(None)
    base = float(held) if isinstance(held, (int, float)) and held else default
    return Call(given, named, at, base)


def _runs(function: Any, call: Call) -> bool:
    """Whether plain Python takes three such numbers, and no tensor of one element in its place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for value in _values(call.base):
                _call(function, _copies(call.given), _copies(call.named), call.at, value)
    except Exception:  # noqa: BLE001 - whatever an operator refuses with
        return False
    return True


def _values(base: float) -> tuple[float, float, float]:
    return base * 1.02, base * 1.05, base * 1.08


def _call(function: Any, given: list[Any], named: dict[str, Any], at: int | str, value: float) -> Any:
    if isinstance(at, int):
        return function(*given[:at], value, *given[at + 1 :], **named)
    return function(*given, **{**named, at: value})


def _copies(held: Any) -> Any:
    if isinstance(held, torch.Tensor):
        return held.detach().clone()
    if isinstance(held, dict):
        return {key: _copies(value) for key, value in held.items()}
    return type(held)(map(_copies, held)) if type(held) in (list, tuple) else held


def is_stale(program: Any, arguments: Callable[[], tuple[Any, ...]], values: tuple[float, ...]) -> bool:
    """Whether a cache of what AOTAutograd makes has for the last value, given last, the graph of the one before.

    That is so where Dynamo compiles the program again to the same graph, and AOTAutograd makes another of it.
    """
    torch._dynamo.reset()
    recorder = _Recorder()
    compiled = torch.compile(program, backend=recorder, fullgraph=True)
    last = [_last_of(compiled, recorder, arguments(), value) for value in values][1:]
    second, third = last
    again = second is not third
    return recorder.cached and again and second.of_dynamo == third.of_dynamo and second.of_autograd != third.of_autograd


def _last_of(compiled: Any, recorder: _Recorder, arguments: tuple[Any, ...], value: float) -> _Graph:
    compiled(*arguments, value)
    return recorder.graphs[-1]


class _Graph(NamedTuple):
    of_dynamo: str
    of_autograd: str


class _Recorder:
    """A backend that stops where Inductor begins, and keeps no cache."""

    def __init__(self) -> None:
        self.graphs: list[_Graph] = []
        self.cached = True

    def __call__(self, graph: Any, inputs: Any) -> Any:
        try:
            check_cacheable(graph)
        except Exception:  # noqa: BLE001 - a way out of the cache
            self.cached = False
        text = graph.code

        def compiler(lowered: Any, _: Any) -> Any:
            self.graphs.append(_Graph(text, lowered.code))
            return lowered

        return aot_autograd(fw_compiler=compiler, decompositions=select_decomp_table())(graph, inputs)


@cache
def _samples() -> dict[str, list[Any]]:
    # torch's tests import `expecttest`, of which their samples need nothing.
    stand_in = types.ModuleType("expecttest")
    vars(stand_in).update(TestCase=unittest.TestCase, assert_expected_inline=None)
    sys.modules.setdefault("expecttest", stand_in)
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for info in op_db:
        for name in {info.name, *(alias.name for alias in info.aliases)}:
            found.setdefault(name.rpartition(".")[2].rstrip("_").lstrip("_"), []).append(info)
    return found


@cache
def samples(name: str) -> list[tuple[list[Any], dict[str, Any]]]:
    """Arguments with which torch's own tests call an operator: positional ones, and those by name."""
    found: list[tuple[list[Any], dict[str, Any]]] = []
    torch.manual_seed(0)
    bare = name.strip("_")
    for info in _samples().get(_OPERATORS.get(bare, bare) if name.startswith("__") else bare, []):
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, sample in enumerate(info.sample_inputs("cpu", torch.float32)):
                if number >= 4 * _CALLS:
                    break
                found.append(([sample.input, *sample.args], dict(sample.kwargs)))
    return sorted(found, key=_plainness)


def _plainness(sample: tuple[list[Any], dict[str, Any]]) -> tuple[bool, int]:
    """The usual call of an operator is the one with the fewest options, and tensors with elements."""
    given, named = sample
    empty = isinstance(given[0], torch.Tensor) and given[0].numel() < 2
    return empty, len(given) + 2 * len(named)
