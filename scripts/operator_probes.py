"""Measurements for `generate_operators.py`: runs operators on fake tensors and says what they did."""

from __future__ import annotations

import argparse
import array
import collections
import contextlib
import datetime as dt
import decimal
import fractions
import functools
import inspect
import io
import itertools
import logging
import pathlib
import random
import re
import subprocess
import threading
import warnings
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch._inductor.decomposition import decompositions as inductor_decompositions
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

# The fake mode logs a traceback for each refused sample.
logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)

# What a call on unsuitable samples may raise; anything else is a defect of the probe and must be seen.
REFUSALS = (
    TypeError,
    ValueError,
    RuntimeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
)


@dataclass
class Seen:
    """What the runs of one operator showed."""

    returns: str = ""
    flags: set[str] = field(default_factory=set[str])
    mutates: set[int] = field(default_factory=set[int])
    dynamic: set[int] = field(default_factory=set[int])
    dynamic_arity: int = 0


def samples(shape_only: bool = False) -> list[torch.Tensor]:
    """Tensors to try as the first argument: matrices of three dtypes, a vector, a scalar, a batch of images."""
    matrices = [torch.ones(3, 3), torch.ones(3, 3, dtype=torch.long), torch.ones(3, 3, dtype=torch.bool)]
    if shape_only:
        return matrices
    more = [torch.ones(3), torch.ones(()), torch.ones(3, dtype=torch.long), torch.ones(1, 3, 4, 4)]
    return [*matrices, *more]


def filler(kind: str, first: torch.Tensor) -> Any:
    """A plain value for a required argument of a schema type; raises KeyError for types that have none."""
    if kind == "Tensor":
        return first.clone()
    values: dict[str, Any] = {
        "int": 0,
        "SymInt": 1,
        "float": 0.5,
        "number": 1,
        "bool": True,
        "List[int]": [1],
        "List[SymInt]": [3, 3],
        "List[Tensor]": [first.clone()],
        "str": "mean",
    }
    return values[kind]


def calls(function: Any, schemas: list[Any], *, method: bool) -> list[list[str]]:
    """Types of the required arguments after the first, one list per way to call the function."""
    shapes: list[list[str]] = []
    if inspect.isfunction(function):
        # Some methods in C are wrapped in Python and still have no signature.
        with contextlib.suppress(ValueError):
            types = signature_types(function)
            if types and types[0] != "Tensor":
                return []
            shapes.append(types[1:])
    for schema in schemas:
        types = [str(a.type) for a in schema.arguments if not a.has_default_value()]
        if method and types[:1] != ["Tensor"]:
            continue
        if types and types[0] == "Tensor" and types[1:] not in shapes:
            shapes.append(types[1:])
    if shapes or (schemas and not method):
        return shapes
    return [SPECIAL_ARGUMENTS.get(str(getattr(function, "__name__", "")), [])]


# Required arguments of special methods that have no schema.
_WITH_NUMBER = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "idiv")
_WITH_TENSOR = ("iand", "ior", "ixor", "ilshift", "irshift")
SPECIAL_ARGUMENTS: dict[str, list[str]] = {
    "__setitem__": ["int", "float"],
    "__getitem__": ["int"],
    "__contains__": ["float"],
    **{f"__{name}__": ["float"] for name in _WITH_NUMBER},
    **{f"__{name}__": ["Tensor"] for name in _WITH_TENSOR},
}


def signature_types(function: Any) -> list[str]:
    """Schema types of the required parameters of a Python function; tensors where unannotated."""
    words = {"int": "int", "float": "float", "bool": "bool", "str": "str", "Tensor": "Tensor"}
    types: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            note: Any = parameter.annotation
            name = note if isinstance(note, str) else getattr(note, "__name__", "")
            plain = note is not parameter.empty and "Tensor" not in str(note)
            types.append(words.get(name.rpartition(".")[2], "other" if plain else "Tensor"))
    return types


def result_kind(value: Any) -> str:
    """The kind of a measured result."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    is_sequence = isinstance(value, (tuple, list)) and bool(value)
    if isinstance(value, torch.Size) or (is_sequence and isinstance(value[0], int)):
        return "size"
    if is_sequence and isinstance(value[0], torch.Tensor):
        return "tensors"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float, complex)):
        return "number"
    return "none" if value is None else "other"


def probe(function: Any, schemas: list[Any], *, writes: bool, method: bool) -> Seen:
    """Runs `function` on fake and on real samples, once per way to call it and sample."""
    seen = Seen()
    name = str(getattr(function, "__name__", ""))
    if name in UNSAFE or name.startswith(UNSAFE_FAMILIES):
        return seen
    ways = calls(function, schemas, method=method)
    for types in ways:
        reduced: list[bool] = []
        for sample in samples():
            with contextlib.suppress(KeyError):
                run_fake(function, sample, types, seen)
                run_real(function, sample, types, seen, reduced)
        if reduced and all(reduced):
            seen.flags.add("reduces")
    if seen.dynamic and len(seen.dynamic) == len(ways):
        seen.flags.add("dynamic_shape")
    elif seen.dynamic:
        seen.dynamic_arity = min(seen.dynamic)
    if name in RUNNING_STATISTICS and inspect.isfunction(function):
        seen.mutates |= writes_statistics(function, RUNNING_STATISTICS[name])
    # A pointer is no metadata, although no operator reads the data for it.
    writes = writes or bool(seen.mutates) or name.endswith("data_ptr")
    if not writes and "data_dependent" not in seen.flags and is_metadata(function, ways):
        seen.flags.add("metadata")
    return seen


# Functions that update statistics given to them, with the argument that makes them do so.
RUNNING_STATISTICS = {"batch_norm": "training", "instance_norm": "use_input_stats"}


def writes_statistics(function: Any, switch: str) -> set[int]:
    """Positions of the running statistics that a normalisation function wrote."""
    statistics = [torch.zeros(3), torch.ones(3)]
    before = [value.clone() for value in statistics]
    function(torch.arange(24.0).reshape(2, 3, 4), *statistics, **{switch: True})
    return {at + 1 for at, value in enumerate(statistics) if not torch.equal(value, before[at])}


# Members that change the sample's process rather than compute: never run.
UNSAFE = frozenset({"share_memory_", "module_load", "storage", "register_hook", "backward", "set_num_threads"})
# Kernels of other devices and of quantised types trust their arguments; some crash the process on wrong ones.
UNSAFE_FAMILIES = ("quantized_", "fbgemm_", "mkldnn_", "cudnn_", "miopen_", "q_", "_cudnn", "_mkldnn", "_miopen")


def run_fake(function: Any, sample: torch.Tensor, types: list[str], seen: Seen) -> None:
    """One run on a fake copy of `sample`; refusals of unsuitable samples say nothing.

    Only calls without further tensors are tried: a parser may take one for a number and read it, which says nothing
    about the operator.
    """
    if "Tensor" in types:
        return
    with warnings.catch_warnings(), FakeTensorMode() as mode:
        warnings.simplefilter("ignore")
        fake = mode.from_tensor(sample)
        try:
            function(fake, *(filler(kind, fake) for kind in types))
        except DataDependentOutputException:
            seen.flags.add("data_dependent")
        except DynamicOutputShapeException:
            seen.dynamic.add(1 + len(types))
        except REFUSALS:
            return


def run_real(function: Any, sample: torch.Tensor, types: list[str], seen: Seen, reduced: list[bool]) -> None:
    """One run on a real copy of `sample`: the kind of the result, what was written, whether it drew random numbers.

    `reduced` collects, for samples with more than one dimension, and for vectors of which there are several, whether
    the result is a tensor without any.
    """
    arguments = [sample.clone(), *(filler(kind, sample) for kind in types)]
    tensors = {at: value for at, value in enumerate(arguments) if isinstance(value, torch.Tensor)}
    before = {at: value._version for at, value in tensors.items()}
    random_state = torch.get_rng_state()
    with warnings.catch_warnings(), torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        result = _first_result(function, arguments, types)
    if result is _REFUSED:
        return
    seen.returns = seen.returns or result_kind(result)
    if not torch.equal(random_state, torch.get_rng_state()):
        seen.flags.add("random")
    seen.mutates |= {at for at, value in tensors.items() if value._version != before[at]}
    if isinstance(result, torch.Tensor) and (sample.dim() > 1 or (sample.dim() == 1 and set(types) == {"Tensor"})):
        reduced.append(result.dim() == 0)


_REFUSED = object()


def _first_result(function: Any, arguments: list[Any], types: list[str]) -> Any:
    """What the first call gives that torch takes: its only integer is a dimension, else a number of elements."""
    more = [1 if kind == "int" else value for kind, value in zip(types, arguments[1:], strict=True)]
    for given in (arguments, *([[arguments[0], *more]] if types.count("int") == 1 else [])):
        with contextlib.suppress(*REFUSALS):
            return function(*given)
    return _REFUSED


DECOMPOSITIONS: dict[Any, Any] = {
    **inductor_decompositions,
    **get_decompositions([torch.ops.aten.full_like, torch.ops.aten.zeros_like, torch.ops.aten.ones_like]),
}


def is_metadata(function: Any, ways: list[list[str]]) -> bool:
    """Whether the traced, decomposed graph never uses the data of the first argument.

    Operators that make a random or uninitialised tensor like another keep it as an argument in the graph; they are
    known by name: `*_like` and `new_*` take only size, dtype and device from it.
    """
    for types, sample in itertools.product(ways, samples(shape_only=True)):
        if "Tensor" in types or "List[Tensor]" in types:
            continue
        with contextlib.suppress(KeyError, *REFUSALS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = functools.partial(_called, function, [filler(kind, sample) for kind in types])
            graph = make_fx(call, DECOMPOSITIONS, tracing_mode="fake")(sample).graph
            graph.eliminate_dead_code()
            source = next(node for node in graph.nodes if node.op == "placeholder")
            return all(user.target in FACTORIES for user in source.users)
    return False


def _called(function: Any, others: list[Any], first: torch.Tensor) -> Any:
    return function(first, *others)


def _factories() -> frozenset[Any]:
    schemas: list[Any] = torch._C._jit_get_all_schemas()
    packets = [schema for schema in schemas if "_like" in schema.name or "aten::new_" in schema.name]
    names = {schema.name.split("::")[1] for schema in packets if schema.name.startswith("aten::")}
    overloads: set[Any] = set()
    for name in names:
        packet: Any = getattr(torch.ops.aten, name)
        overloads.update(getattr(packet, overload) for overload in packet.overloads())
    return frozenset(overloads)


FACTORIES = _factories()


def attribute_kind(values: list[torch.Tensor], name: str) -> str:
    """The kind of the property `name`, from the first sample that has a value for it."""
    for sample in values:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = getattr(sample, name)
        except REFUSALS:
            continue
        kind = result_kind(value)
        if value is None:
            continue
        named = {"dtype": torch.dtype, "device": torch.device, "layout": torch.layout, "string": str}
        return next((word for word, kind_type in named.items() if isinstance(value, kind_type)), kind)
    return "tensor" if name in {"grad", "_grad", "_base"} else "other"


# Tensor properties that configuration objects of users have under the same name.
FIELD_NAMES = {"dtype", "data", "layout", "H"}


def common_members() -> set[str]:
    """Names of members of values that are no tensors, as user code holds them."""
    types: list[type] = [object, str, bytes, bytearray, list, dict, set, frozenset, tuple, int, float, complex, bool]
    types += [range, slice, collections.deque, collections.Counter, collections.OrderedDict, collections.ChainMap]
    types += [pathlib.Path, io.StringIO, io.BytesIO, io.TextIOWrapper, re.Pattern, re.Match, random.Random]
    types += [logging.Logger, torch.nn.Module, torch.Size, torch.dtype, torch.device, torch.Generator]
    types += [torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential, torch.optim.Optimizer]
    types += [collections.UserDict, torch.nn.utils.rnn.PackedSequence, decimal.Decimal, fractions.Fraction]
    types += [
        dt.datetime,
        dt.timedelta,
        array.array,
        threading.Thread,
        subprocess.Popen,
        argparse.Namespace,
    ]
    types += [torch.cuda.Event, torch.cuda.Stream, torch.UntypedStorage, torch.TypedStorage, contextlib.ExitStack]
    return {member for kind in types for member in dir(kind)} | FIELD_NAMES
