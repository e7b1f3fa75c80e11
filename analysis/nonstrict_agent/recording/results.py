"""What a recorded call returned: its structure, and what its tensors are like. Values are not looked at."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from nonstrict_agent.inputs.naming import class_name
from nonstrict_agent.recording.fakes import Unknown, layout

_NESTED_CONTAINERS = 3
_MANY = 64  # items of a container that are described


def outcome(value: object, depth: int = _NESTED_CONTAINERS) -> dict[str, Any]:
    """The specification of a result, without ranges of its tensors; kind "unknown" for what holds no tensors."""
    if value is None:
        return {"kind": "none"}
    if type(value) in {torch.Tensor, torch.nn.Parameter} and isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction():
            return _tensor(value)
    if isinstance(value, FakeTensor):
        return _fake(value)
    if type(value) in {list, tuple} and isinstance(value, (list, tuple)) and depth and len(value) <= _MANY:
        return {"kind": type(value).__name__, "items": [outcome(item, depth - 1) for item in value]}
    return {"kind": "unknown", "class": class_name(type(value))}


def _tensor(value: torch.Tensor) -> dict[str, Any]:
    if value.layout != torch.strided or value.is_quantized or value.is_nested:
        return {"kind": "unknown", "class": class_name(type(value))}
    spec: dict[str, Any] = {
        "kind": "tensor",
        "shape": list(value.shape),
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": str(value.device),
    }
    if not value.is_contiguous():
        spec["strides"] = list(value.stride())
    return spec


def _fake(value: torch.Tensor) -> dict[str, Any]:
    """What the tensor is like for which a fake one stands."""
    try:
        spec = layout(value)
    except Unknown:
        return {"kind": "unknown", "class": class_name(type(value))}
    return {key: each for key, each in spec.items() if key not in {"requires_grad", "parameter"}}
