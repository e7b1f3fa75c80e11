"""From specifications to values: random, fixed by a seed, equal in every process that uses the same seed.

All random numbers come from one generator of the CPU and are then moved, so that a device does not change them.
"""

from __future__ import annotations

import base64
import functools
import importlib
import math
from typing import TYPE_CHECKING, Any

import torch

from nonstrict_agent import process_groups
from nonstrict_agent.inputs.naming import UnmakeableError, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nonstrict_agent.inputs.specification import CallSpec, Spec

_INDEX_RANGE = (0, 1)  # of integers without a known range: valid as indices into anything with two entries


@functools.lru_cache
def available(device: str) -> str:
    """`device` where this machine has it, else "cpu"."""
    kind = device.partition(":")[0]
    if kind in {"cpu", "meta"}:
        return device
    backend: Any = getattr(torch, kind, None)
    try:
        return device if backend is not None and backend.is_available() else "cpu"
    except (AttributeError, RuntimeError):
        return "cpu"


class Maker:
    """Makes the values of one call, one after the other, from one seed.

    With `instances`, modules made by a constructor are kept there and used again, whatever happened to them since.
    With `origins`, that is given the specification of each tensor, by the tensor's `id`.
    """

    def __init__(
        self,
        seed: int,
        namespace: Mapping[str, object],
        instances: dict[str, Any] | None = None,
        origins: dict[int, Spec] | None = None,
    ) -> None:
        self._instances = instances
        self._origins = origins
        self._seed = seed
        self._namespace = namespace
        self._generator = torch.Generator().manual_seed(seed)

    def make(self, spec: Spec) -> Any:
        """A value for `spec`.

        Raises:
            UnmakeableError: of kind "unknown", or not to be made here; the text says why.
        """
        maker = _MAKERS.get(spec["kind"])
        if maker is None:
            raise UnmakeableError(f"a value of {spec.get('class', spec['kind'])} cannot be made from a description")
        made = maker(self, spec)
        if self._origins is not None and isinstance(made, torch.Tensor):
            self._origins[id(made)] = spec
        return made

    def _tensor(self, spec: Spec) -> torch.Tensor:
        shape, dtype = spec["shape"], getattr(torch, spec["dtype"], None)
        if not isinstance(dtype, torch.dtype):
            raise UnmakeableError(f"this torch has no dtype {spec['dtype']}")
        strides = spec.get("strides")
        count = [_extent(shape, strides)] if strides else shape
        try:
            made = self._numbers(count, dtype, spec)
            if strides:
                made = made.as_strided(shape, strides)
            made = made.to(available(spec.get("device", "cpu")))
            if spec.get("parameter"):
                return torch.nn.Parameter(made, requires_grad=spec.get("requires_grad", True))
            return made.requires_grad_() if spec.get("requires_grad") else made
        except (RuntimeError, TypeError) as error:
            raise UnmakeableError(f"no tensor of {spec['dtype']} and shape {shape}: {error}") from error

    def _numbers(self, shape: list[int], dtype: torch.dtype, spec: Spec) -> torch.Tensor:
        low, high = spec.get("low"), spec.get("high")
        if dtype.is_complex:
            parts = [torch.randn(shape, generator=self._generator) for _ in range(2)]
            return torch.complex(*parts).to(dtype)
        if dtype.is_floating_point:
            if low is None or high is None:
                return torch.randn(shape, generator=self._generator).to(dtype)
            uniform = torch.rand(shape, generator=self._generator, dtype=torch.float64)
            return (uniform * (high - low) + low).to(dtype)
        if low is None or high is None:
            low, high = _INDEX_RANGE
        if spec.get("ascending"):
            return torch.linspace(int(low), int(high), math.prod(shape)).round().reshape(shape).to(dtype)
        # randint excludes its upper end, which must itself be a number of 64 bits.
        high = min(int(high), torch.iinfo(torch.int64).max - 1)
        return torch.randint(min(int(low), high), high + 1, shape, generator=self._generator).to(dtype)

    def _array(self, spec: Spec) -> Any:
        try:
            numpy: Any = importlib.import_module("numpy")
        except ImportError as error:
            raise UnmakeableError("numpy is not installed") from error
        kind = numpy.dtype(spec["dtype"]).kind
        if kind not in "biufc":
            raise UnmakeableError(f"arrays of {spec['dtype']} cannot be made from a description")
        dtype = torch.complex64 if kind == "c" else torch.float32 if kind == "f" else torch.int64
        made = self._numbers(spec["shape"], dtype, spec).numpy().astype(spec["dtype"])
        return made[()] if spec.get("scalar") else made

    def _container(self, spec: Spec) -> Any:
        kinds = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
        return kinds[spec["kind"]](self.make(each) for each in spec["items"])

    def _dict(self, spec: Spec) -> Any:
        made = {self.make(key): self.make(value) for key, value in spec["items"]}
        if "class" not in spec:
            return made
        kind: Any = resolve(spec["class"], self._namespace)
        try:
            return kind(self.make(spec["factory"]), made) if "factory" in spec else kind(made)
        except Exception as error:
            raise UnmakeableError(f"{spec['class']} cannot be made from a dict: {error}") from error

    def _enum(self, spec: Spec) -> Any:
        kind: Any = resolve(spec["class"], self._namespace)
        try:
            return kind[spec["name"]]
        except KeyError as error:
            raise UnmakeableError(f"{spec['class']} has no member {spec['name']}") from error

    def _namedtuple(self, spec: Spec) -> Any:
        kind: Any = resolve(spec["class"], self._namespace)
        fields = {name: self.make(each) for name, each in spec["fields"].items()}
        try:
            return kind(**fields)
        except TypeError as error:
            raise UnmakeableError(f"{spec['class']}: {error}") from error

    def _object(self, spec: Spec) -> Any:
        """An instance with these attributes; what its `__init__` would do besides is not repeated."""
        kind: Any = resolve(spec["class"], self._namespace)
        if "constructor" in spec:
            return self._constructed(kind, spec)
        fields = {name: self.make(each) for name, each in spec["fields"].items()}
        try:
            made = kind.__new__(kind)
            for name, value in fields.items():
                object.__setattr__(made, name, value)
        except (TypeError, AttributeError) as error:
            raise UnmakeableError(f"{spec['class']} cannot be made from its attributes: {error}") from error
        return made

    def _dataclass(self, spec: Spec) -> Any:
        kind: Any = resolve(spec["class"], self._namespace)
        fields = {name: self.make(each) for name, each in spec["fields"].items()}
        declared = getattr(kind, "__dataclass_fields__", None)
        if declared is None:
            raise UnmakeableError(f"{spec['class']} is not a dataclass any more")
        accepted = {name for name, field in declared.items() if field.init}
        try:
            made = kind(**{name: value for name, value in fields.items() if name in accepted})
        except Exception:  # what a user's __post_init__ refuses now had been accepted then  # noqa: BLE001
            made = object.__new__(kind)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    def _constructed(self, kind: Callable[..., Any], spec: Spec) -> Any:
        call: CallSpec = spec["constructor"]
        args = [self.make(each) for each in call["args"]]
        kwargs = {name: self.make(each) for name, each in call["kwargs"].items()}
        try:
            # Constructors draw their weights from the global generator, whose state is the user's.
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self._seed)
                return kind(*args, **kwargs)
        except Exception as error:
            raise UnmakeableError(f"{spec['class']}(...) raised {type(error).__name__}: {error}") from error

    def _module(self, spec: Spec) -> torch.nn.Module:
        if self._instances is None or "constructor" not in spec:
            return self._new_module(spec)
        key = repr(spec)
        if key not in self._instances:
            self._instances[key] = self._new_module(spec)
        return self._instances[key]

    def _new_module(self, spec: Spec) -> torch.nn.Module:
        kind: Any = resolve(spec["class"], self._namespace)
        if "constructor" in spec:
            made = self._constructed(kind, spec)
            if not isinstance(made, torch.nn.Module):
                raise UnmakeableError(f"{spec['class']} is not a module")
            owners = {
                name: (made.get_submodule(name.rpartition(".")[0]), each)
                for name, each in spec.get("state", {}).items()
            }
            for name, each in spec.get("fields", {}).items():
                setattr(made, name, self.make(each))
        else:
            made = kind.__new__(kind)
            torch.nn.Module.__init__(made)
            for name, each in spec.get("children", {}).items():
                made._modules[name] = None if each["kind"] == "none" else self.make(each)
            for name, each in spec.get("fields", {}).items():
                object.__setattr__(made, name, self.make(each))
            owners = {name: (made, each) for name, each in spec.get("state", {}).items()}
        for name, (owner, each) in owners.items():
            table = owner._parameters if each.get("parameter") else owner._buffers
            table[name.rpartition(".")[2]] = self.make(each)
        # `train` may be the user's own; the flag is what it sets.
        for each in made.modules() if spec.get("training") is False else ():
            each.training = False
        made.training = spec.get("training", True)
        return made

    def _expression(self, spec: Spec) -> Any:
        scope = {"torch": torch, "math": math, **self._namespace}
        try:
            return eval(spec["source"], scope)  # the user's own words, in the user's own process  # noqa: S307
        except Exception as error:
            raise UnmakeableError(f"`{spec['source']}` raised {type(error).__name__}: {error}") from error


def _extent(shape: list[int], strides: list[int]) -> int:
    """Elements of storage that a tensor of this shape and these strides spans."""
    return 0 if 0 in shape else 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def _dtype(_maker: Maker, spec: Spec) -> torch.dtype:
    dtype = getattr(torch, spec["name"], None)
    if not isinstance(dtype, torch.dtype):
        raise UnmakeableError(f"this torch has no dtype {spec['name']}")
    return dtype


def _group(_maker: Maker, _spec: Spec) -> Any:
    try:
        return process_groups.default_group()
    except process_groups.UnavailableError as error:
        raise UnmakeableError(str(error)) from error


def _mesh(_maker: Maker, spec: Spec) -> Any:
    try:
        return process_groups.device_mesh(tuple(spec["names"]))
    except process_groups.UnavailableError as error:
        raise UnmakeableError(str(error)) from error


_MAKERS: Mapping[str, Callable[[Maker, Spec], Any]] = {
    "tensor": Maker._tensor,
    "literal": lambda _maker, spec: spec["value"],
    "none": lambda _maker, _spec: None,
    "complex": lambda _maker, spec: complex(spec["real"], spec["imag"]),
    "bytes": lambda _maker, spec: base64.b64decode(spec["base64"]),
    "list": Maker._container,
    "tuple": Maker._container,
    "set": Maker._container,
    "frozenset": Maker._container,
    "dict": Maker._dict,
    "dtype": _dtype,
    "device": lambda _maker, spec: torch.device(available(spec["name"])),
    "enum": Maker._enum,
    "slice": lambda _maker, spec: slice(spec["start"], spec["stop"], spec["step"]),
    "range": lambda _maker, spec: range(spec["start"], spec["stop"], spec["step"]),
    "size": lambda _maker, spec: torch.Size(spec["items"]),
    "dataclass": Maker._dataclass,
    "namedtuple": Maker._namedtuple,
    "object": Maker._object,
    "module": Maker._module,
    "function": lambda maker, spec: resolve(spec["name"], maker._namespace),
    "array": Maker._array,
    "process-group": _group,
    "device-mesh": _mesh,
    "expression": Maker._expression,
}
