"""Which tensors are surely made on the CPU: by what is told no device, and of such tensors and numbers.

A program may say where all tensors are made (`torch.set_default_device`, `with torch.device`): who asks has to look for
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.values import NO_CONSTANT, PRIMITIVES, UNKNOWN, Flag, Kind, Value
from nonstrict.program.objects import dtypes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from nonstrict.facts.library_calls import Called
    from nonstrict.knowledge.operators import Operator

_CPU, _DEVICE = "cpu", "torch.device"
#: Methods that move a tensor to a GPU; of `to` and `type` an argument says where to.
_MOVING = frozenset({"cuda", "xpu", "hpu", "ipu", "mtia"})
_TOLD = frozenset({"to", "type"})
#: What makes a tensor of the memory of an array.
_OF_ARRAYS = frozenset({"from_numpy", "frombuffer"})
#: No operands: how a result is made.
_NO_OPERANDS = PRIMITIVES | {Kind.GENERATOR}


def device_named(name: str, positional: Sequence[Value]) -> object:
    """What an object of a class says of a device, as its constant: `torch.device("cpu")`."""
    return positional[0].const if name == _DEVICE and len(positional) == 1 else NO_CONSTANT


def is_moved(call: Called, keywords: Collection[str]) -> bool:
    """Whether a call says itself where its result is, whatever it is given."""
    return "device" in keywords or (call.is_method and call.name in _MOVING | _TOLD | {_CPU})


def is_cpu(call: Called, device: Value | None) -> bool:
    """Whether a call that says where its result is says the CPU, by its name or by a device that it is given."""
    return call.name == _CPU if device is None else device.const == _CPU


def is_gpu(call: Called, device: Value | None) -> bool:
    """Whether a call that says where its result is says a GPU, by its name or by a device that it is given."""
    told = device.const if device is not None else NO_CONSTANT
    is_named = type(told) is int or (isinstance(told, str) and told.partition(":")[0] in _MOVING)
    return is_named or call.name in _MOVING


def elementwise(values: Sequence[Value]) -> int:
    """`Flag.ON_CPU` for a tensor that is computed of such tensors and of numbers."""
    tensors = [value for value in values if value.kind not in _NO_OPERANDS]
    return Flag.ON_CPU if tensors and all(value.flags & Flag.ON_CPU for value in tensors) else Flag.NONE


def of_result(operator: Operator, last: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> int:
    """`Flag.ON_CPU` for the tensor that an operator gives, if it is surely made there."""
    device = keywords.get("device")
    if device is None and last in _TOLD:
        told = positional[1] if len(positional) > 1 else UNKNOWN
        device = None if dtypes.is_dtype(told) or "dtype" in keywords else told
    if device is not None:
        return Flag.ON_CPU if device.const == _CPU or (device.is_tensor and elementwise((device,))) else Flag.NONE
    if last in _MOVING or "out" in keywords:
        return Flag.NONE
    if last == _CPU or last in _OF_ARRAYS:
        return Flag.ON_CPU
    operands = [_entry(value) for value in (*positional, *keywords.values())]
    if any(value.is_tensor for value in operands):
        return elementwise(operands)
    return Flag.ON_CPU if _makes(operator, operands) else Flag.NONE


def _makes(operator: Operator, operands: Sequence[Value]) -> bool:
    """Whether an operator makes a tensor of what is given, among which is none."""
    if operator.sized:  # what is not known there is a size
        return True
    return all(value.kind in _NO_OPERANDS for value in operands)


def _entry(value: Value) -> Value:
    """What a container holds, for the container."""
    known = value.kind in (Kind.LIST, Kind.TUPLE) and value.heap is not None and value.heap.element is not None
    return value.heap.element if known and value.heap is not None and value.heap.element is not None else value
