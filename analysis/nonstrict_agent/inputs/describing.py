"""From values to specifications. Reads values, never changes or runs them, and never copies their content.

Ranges are kept: of integers and bools (they are often indices), and of floating point values that are nowhere
negative (probabilities, variances), since roots and logarithms of random values would not be finite.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import math
import sys
import types
from typing import TYPE_CHECKING, Any

import torch

from nonstrict_agent.inputs.naming import class_name, name_of
from nonstrict_agent.inputs.specification import Spec, literal

if TYPE_CHECKING:
    from collections.abc import Callable

_MANY = 64  # items of a container that are described
_HOOKS = frozenset({"training", "_parameters", "_buffers", "_modules"})


def describe(value: Any, depth: int) -> Spec:
    """The specification of `value`; kind "unknown" for what has none or lies deeper than `depth`."""
    for fits, describer in _SCALARS:
        if fits(value):
            return describer(value)
    if depth <= 0:
        return _unknown(value)
    for fits, nested in _NESTED:
        if fits(value):
            return nested(value, depth - 1)
    return _object(value, depth - 1)


def _unknown(value: Any) -> Spec:
    return {"kind": "unknown", "class": class_name(type(value))}


def _number(value: Any) -> Spec:
    if isinstance(value, float) and not math.isfinite(value):
        return {"kind": "expression", "source": f"float({str(value)!r})"}
    return literal(value)


def _complex(value: Any) -> Spec:
    parts = {"real": value.real, "imag": value.imag}
    if not all(math.isfinite(part) for part in parts.values()):
        return {
            "kind": "expression",
            "source": f"complex({value.real!s:}, {value.imag!s:})".replace("nan", "float('nan')"),
        }
    return {"kind": "complex", **parts}


def _tensor(value: Any) -> Spec:
    plain = type(value) in {torch.Tensor, torch.nn.Parameter} or type(value).__name__ in {"Parameter", "Buffer"}
    if not plain or value.layout != torch.strided or value.is_quantized or value.is_nested:
        return _unknown(value)
    spec: Spec = {
        "kind": "tensor",
        "shape": list(value.shape),
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": str(value.device),
        "requires_grad": bool(value.requires_grad),
    }
    if not value.is_contiguous():
        spec["strides"] = list(value.stride())
    if isinstance(value, torch.nn.Parameter):
        spec["parameter"] = True
    spec.update(_range(value.detach()))
    return spec


def _range(value: torch.Tensor) -> Spec:
    """The lowest and highest value, where that matters and can be read."""
    if not value.numel() or value.is_meta or value.is_complex():
        return {}
    try:
        seen = value.to("cpu").to(torch.float64 if value.is_floating_point() else torch.int64)
        low, high = seen.min().item(), seen.max().item()
    except RuntimeError:
        return {}
    if not value.is_floating_point():
        return {"low": int(low), "high": int(high)}
    if not 0 <= low <= high < math.inf:
        return {}
    if low == high:  # one value everywhere says little of a range; equal inputs would hide differences
        low, high = low / 2, (high * 1.5 or 1.0)
    return {"low": low, "high": high}


def _enum(value: Any) -> Spec:
    return {"kind": "enum", "class": class_name(type(value)), "name": value.name}


def _named(value: Any) -> Spec:
    name = name_of(value)
    return {"kind": "function", "name": name} if name else _unknown(value)


def _bounds(value: Any) -> Spec:
    bounds = {"start": value.start, "stop": value.stop, "step": value.step}
    if not all(each is None or type(each) is int for each in bounds.values()):
        return _unknown(value)
    return {"kind": type(value).__name__, **bounds}


def _is_array(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "dtype") and hasattr(value, "shape")


def _array(value: Any) -> Spec:
    spec: Spec = {"kind": "array", "shape": list(value.shape), "dtype": str(value.dtype)}
    if type(value).__name__ != "ndarray":
        spec["scalar"] = True
    if value.dtype.kind in "iub" and value.size:
        spec.update(low=int(value.min()), high=int(value.max()))
    return spec


def _torch_constant(value: Any) -> Spec:
    return {"kind": "expression", "source": str(value)}


def _is_of_groups(name: str) -> Callable[[Any], bool]:
    """Whether a value is of a class of torch.distributed, which not every torch has."""
    owners = {"ProcessGroup": "torch.distributed.distributed_c10d", "DeviceMesh": "torch.distributed.device_mesh"}

    def fits(value: Any) -> bool:
        cls = getattr(sys.modules.get(owners[name]), name, None)
        return isinstance(cls, type) and isinstance(value, cls)

    return fits


def _is_type(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _is_instance(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_SCALARS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Spec]], ...] = (
    (lambda value: value is None, lambda _value: literal(None)),
    (_is_instance(enum.Enum), _enum),
    (_is_type(bool, int, float, str), _number),
    (_is_type(complex), _complex),
    (_is_type(bytes), lambda value: {"kind": "bytes", "base64": base64.b64encode(value).decode()}),
    (_is_instance(torch.Tensor), _tensor),
    (_is_type(torch.dtype), lambda value: {"kind": "dtype", "name": str(value).removeprefix("torch.")}),
    (_is_type(torch.device), lambda value: {"kind": "device", "name": str(value)}),
    (_is_type(torch.layout, torch.memory_format), _torch_constant),
    (_is_type(torch.Size), lambda value: {"kind": "size", "items": [int(each) for each in value]}),
    (_is_type(slice, range), _bounds),
    (_is_array, _array),
    (_is_of_groups("ProcessGroup"), lambda _value: {"kind": "process-group"}),
    (_is_of_groups("DeviceMesh"), lambda value: {"kind": "device-mesh", "names": list(value.mesh_dim_names or ())}),
    (_is_instance(type, types.FunctionType, types.BuiltinFunctionType), _named),
)


def _sequence(value: Any, depth: int) -> Spec:
    items: list[object] = list(value)
    if len(items) > _MANY:
        return _unknown(value)
    described = [describe(each, depth) for each in items]
    if isinstance(value, (set, frozenset)):
        described.sort(key=repr)  # the order of a set differs from process to process
    return {"kind": type(value).__name__, "items": described}


def _namedtuple(value: Any, depth: int) -> Spec:
    names: tuple[str, ...] = value._fields
    fields = {name: describe(getattr(value, name), depth) for name in names}
    return {"kind": "namedtuple", "class": class_name(type(value)), "fields": fields}


def _dict(value: Any, depth: int) -> Spec:
    if len(value) > _MANY:
        return _unknown(value)
    spec: Spec = {"kind": "dict", "items": [[describe(k, depth), describe(v, depth)] for k, v in value.items()]}
    if type(value) is not dict:
        spec["class"] = class_name(type(value))
        factory = getattr(value, "default_factory", None)
        if factory is not None:
            spec["factory"] = _named(factory)
    return spec


def _dataclass(value: Any, depth: int) -> Spec:
    names = [field.name for field in dataclasses.fields(value)]
    fields = {name: describe(getattr(value, name), depth) for name in names if hasattr(value, name)}
    return {"kind": "dataclass", "class": class_name(type(value)), "fields": fields}


def _module(value: Any, depth: int) -> Spec:
    state: dict[str, Spec] = {}
    for name, parameter in value._parameters.items():
        state[name] = {**describe(parameter, 1), "parameter": True}
    for name, buffer in value._buffers.items():
        state[name] = describe(buffer, 1)
    plain = torch.nn.Module().__dict__.keys()
    fields = {name: describe(each, depth) for name, each in vars(value).items() if name not in plain}
    return {
        "kind": "module",
        "class": class_name(type(value)),
        "fields": {name: spec for name, spec in fields.items() if spec["kind"] != "unknown"},
        "children": {name: describe(each, depth + 1) for name, each in value._modules.items()},
        "state": state,
        "training": value.training,
    }


def _object(value: Any, depth: int) -> Spec:
    """Any other object, by its attributes, if its class is one that Python code defines and names."""
    fields = dict(getattr(value, "__dict__", {}))
    for each in type(value).__mro__:
        slots = each.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in {"__dict__", "__weakref__"}:
                fields[name] = getattr(value, name)
    simple = isinstance(value, types.SimpleNamespace)
    written_in_c = not simple and not type(value).__flags__ & (1 << 9)  # Py_TPFLAGS_HEAPTYPE
    builtin_base = isinstance(value, (list, tuple, dict, set, frozenset, str, int, float, bytes, types.ModuleType))
    if written_in_c or builtin_base or callable(value) or len(fields) > _MANY:
        return _unknown(value)
    described = {str(name): describe(each, depth) for name, each in fields.items()}
    return {"kind": "object", "class": class_name(type(value)), "fields": described}


_NESTED: tuple[tuple[Callable[[Any], bool], Callable[[Any, int], Spec]], ...] = (
    (_is_type(list, tuple, set, frozenset), _sequence),
    (lambda value: isinstance(value, tuple) and hasattr(value, "_fields"), _namedtuple),
    (_is_instance(dict), _dict),
    (_is_instance(torch.nn.Module), _module),
    (lambda value: dataclasses.is_dataclass(value) and not isinstance(value, type), _dataclass),
)
