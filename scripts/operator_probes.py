"""Measurements for `generate_operators.py`: runs operators on fake tensors and says what they did."""

from __future__ import annotations

import collections
import contextlib
import io
import itertools
import logging
import pathlib
import random
import re
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
REFUSALS = (TypeError, ValueError, RuntimeError, LookupError, ArithmeticError, AssertionError, AttributeError, ImportError)


@dataclass
class Seen:
    """What the runs of one operator showed."""

    returns: str = ""
    flags: set[str] = field(default_factory=lambda: set[str]())


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
        "List[int]": [0],
        "List[SymInt]": [3, 3],
        "List[Tensor]": [first.clone()],
        "str": "mean",
    }
    return values[kind]


def calls(schemas: list[Any], *, method: bool) -> list[list[str]]:
    """Types of the required arguments after the first, one list per schema; a bare call where there is no schema."""
    shapes: list[list[str]] = []
    for schema in schemas:
        types = [str(a.type) for a in schema.arguments if not a.has_default_value()]
        if method and types[:1] != ["Tensor"]:
            continue
        if types and types[0] == "Tensor" and types[1:] not in shapes:
            shapes.append(types[1:])
    return shapes or [[]]


def result_kind(value: Any) -> str:
    """The kind of a measured result."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, torch.Size):
        return "size"
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], torch.Tensor):
        return "tensors"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float, complex)):
        return "number"
    return "none" if value is None else "other"


def probe(function: Any, schemas: list[Any], *, writes: bool, method: bool) -> Seen:
    """Runs `function` on fake samples, once per schema and sample."""
    seen = Seen()
    name = str(getattr(function, "__name__", ""))
    if name in UNSAFE or name.startswith(UNSAFE_FAMILIES):
        return seen
    for types, sample in itertools.product(calls(schemas, method=method), samples()):
        with contextlib.suppress(KeyError):
            run_once(function, sample, types, seen)
    if not writes and "data_dependent" not in seen.flags and is_metadata(function, schemas, method=method):
        seen.flags.add("metadata")
    return seen


# Members that change the sample's process rather than compute: never run.
UNSAFE = frozenset({"share_memory_", "module_load", "storage", "register_hook", "backward", "set_num_threads"})
# Kernels of other devices and of quantised types trust their arguments; some crash the process on wrong ones.
UNSAFE_FAMILIES = ("quantized_", "fbgemm_", "mkldnn_", "cudnn_", "miopen_", "q_", "_cudnn", "_mkldnn", "_miopen")


def run_once(function: Any, sample: torch.Tensor, types: list[str], seen: Seen) -> None:
    """One run on a fake copy of `sample`; refusals of unsuitable samples say nothing."""
    with warnings.catch_warnings(), FakeTensorMode() as mode:
        warnings.simplefilter("ignore")
        fake = mode.from_tensor(sample)
        arguments = [filler(kind, fake) for kind in types]
        try:
            result = function(fake, *arguments)
        except DataDependentOutputException:
            seen.flags.add("data_dependent")
        except DynamicOutputShapeException:
            seen.flags.add("dynamic_shape")
        except REFUSALS:
            return
        else:
            seen.returns = seen.returns or result_kind(result)
            if not types and isinstance(result, torch.Tensor) and sample.dim() == 2 and result.dim() == 0:
                seen.flags.add("reduces")


DECOMPOSITIONS: dict[Any, Any] = {
    **inductor_decompositions,
    **get_decompositions([torch.ops.aten.full_like, torch.ops.aten.zeros_like, torch.ops.aten.ones_like]),
}


def is_metadata(function: Any, schemas: list[Any], *, method: bool) -> bool:
    """Whether the traced, decomposed graph never uses the data of the first argument.

    Operators that make an uninitialised or random tensor like another one keep it as an argument in the graph;
    they are told by their schema: tag-free `*_like` and `new_*` factories take only size, dtype and device from it.
    """
    for types, sample in itertools.product(calls(schemas, method=method), samples(shape_only=True)):
        with contextlib.suppress(KeyError, *REFUSALS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            others = [filler(kind, sample) for kind in types]
            if any(isinstance(other, torch.Tensor) for other in others):
                continue
            graph = make_fx(lambda x, o=others: function(x, *o), DECOMPOSITIONS, tracing_mode="fake")(sample).graph
            graph.eliminate_dead_code()
            source = next(node for node in graph.nodes if node.op == "placeholder")
            return all(user.target in FACTORIES for user in source.users)
    return False


def _factories() -> frozenset[Any]:
    names = [name for name in dir(torch.ops.aten) if name.endswith("_like") or name.startswith("new_")]
    packets: list[Any] = [getattr(torch.ops.aten, name) for name in names]
    return frozenset(getattr(packet, overload) for packet in packets for overload in packet.overloads())


def _all_factories() -> frozenset[Any]:
    packets = [name for name in torch._C._jit_get_all_schemas() if "_like" in name.name or "aten::new_" in name.name]
    names = {schema.name.split("::")[1] for schema in packets if schema.name.startswith("aten::")}
    overloads: set[Any] = set()
    for name in names:
        packet: Any = getattr(torch.ops.aten, name)
        overloads.update(getattr(packet, overload) for overload in packet.overloads())
    return frozenset(overloads)


FACTORIES = _all_factories()


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


def common_members() -> set[str]:
    """Names of members of values that are no tensors, as user code holds them."""
    types: list[type] = [object, str, bytes, bytearray, list, dict, set, frozenset, tuple, int, float, complex, bool]
    types += [range, slice, collections.deque, collections.Counter, collections.OrderedDict, collections.ChainMap]
    types += [pathlib.Path, io.StringIO, io.BytesIO, io.TextIOWrapper, re.Pattern, re.Match, random.Random]
    types += [logging.Logger, torch.nn.Module, torch.Size, torch.dtype, torch.device, torch.Generator]
    types += [torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential, torch.optim.Optimizer]
    types += [torch.cuda.Event, torch.cuda.Stream, torch.UntypedStorage, torch.TypedStorage, contextlib.ExitStack]
    return {member for kind in types for member in dir(kind)}
