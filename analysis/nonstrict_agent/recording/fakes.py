"""What stands for real values while Dynamo traces (torch 2.13), as far as it tells what those are like.

A marked function is called with fake tensors while Dynamo asks what it returns: they have a shape, a dtype and a
device, and no content; sizes that may vary are symbolic, with the present number as a hint. What is an input of the
region stands for one real tensor, which torch remembers, and which is described in its place.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree


class Unknown(Exception):  # noqa: N818 - it is no fault
    """A value stands for another of which nothing is known."""


class Standing:
    """A fake tensor in a call, by its number: as an attribute, so that it is found again in the description."""

    def __init__(self, number: int) -> None:
        """The tensor has this number."""
        self.number = number


_STANDING = f"{Standing.__module__}:{Standing.__qualname__}"


class Fakes:
    """The fake tensors of a call, taken out of it before it is described, and put into the description."""

    def __init__(self) -> None:
        """No tensor was met."""
        self.specs: list[dict[str, Any]] = []

    def out_of(self, value: Any) -> Any:
        """The value with other things in place of those that stand for real ones.

        Raises:
            Unknown: of one it is not known what it stands for.
        """
        return _pytree.tree_map(self._leaf, value)

    def into(self, spec: Any) -> Any:
        """The description of what `out_of` gave, with fake tensors described by what they are like."""
        if isinstance(spec, list):
            return [self.into(item) for item in cast("list[Any]", spec)]
        if not isinstance(spec, dict):
            return spec
        fields = cast("dict[str, Any]", spec)
        if fields.get("class") == _STANDING and "fields" in fields:
            return self.specs[fields["fields"]["number"]["value"]]
        return {key: self.into(item) for key, item in fields.items()}

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return number(value)
        if isinstance(value, torch.nn.Module):
            return self._module(value)
        if not isinstance(value, FakeTensor):
            return value
        real = _real(value)
        if real is not None:
            return real
        self.specs.append(layout(value))
        return Standing(len(self.specs) - 1)

    def _module(self, module: torch.nn.Module) -> torch.nn.Module:
        """The module with what its parameters and buffers stand for: Dynamo puts fake tensors into it."""
        made: torch.nn.Module = type(module).__new__(type(module))
        made.__dict__.update(vars(module))
        for held in ("_parameters", "_buffers", "_modules"):
            made.__dict__[held] = {name: self._leaf(each) for name, each in vars(module)[held].items()}
        return made


def layout(fake: torch.Tensor) -> dict[str, Any]:
    """The specification of a fake tensor, without what its values are.

    Raises:
        Unknown: its sizes are not known.
    """
    if fake.layout != torch.strided or fake.is_quantized or fake.is_nested:
        raise Unknown
    spec: dict[str, Any] = {
        "kind": "tensor",
        "shape": [number(size) for size in fake.shape],
        "dtype": str(fake.dtype).removeprefix("torch."),
        "device": str(fake.device),
        "requires_grad": bool(fake.requires_grad),
    }
    strides = [number(stride) for stride in fake.stride()]
    if not _is_contiguous(spec["shape"], strides):
        spec["strides"] = strides
    if isinstance(fake, torch.nn.Parameter):
        spec["parameter"] = True
    return spec


def _is_contiguous(shape: list[int], strides: list[int]) -> bool:
    """What `Tensor.is_contiguous` says, which would guard by the sizes if they are symbolic."""
    dense = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != dense:
            return 0 in shape
        dense *= size
    return True


def number(value: Any) -> Any:
    """The present number of a symbolic one; any other as it is. It is not guarded by.

    Raises:
        Unknown: it depends on the content of tensors.
    """
    node = getattr(value, "node", None)
    if node is None:
        return value
    hint = node.hint if node.has_hint() else None
    if type(hint) not in {bool, int, float}:
        raise Unknown
    return hint


def _real(fake: Any) -> torch.Tensor | None:
    """The tensor for which an input of a region stands, None for what is computed in it."""
    converter = getattr(fake.fake_mode.fake_tensor_converter, "meta_converter", None)
    if converter is None:
        return None
    ids = {name for name, known in converter.tensor_memo.items() if known is fake}
    pairs = converter.describer.lookup_tensor.items() if ids else ()
    return next((real for real, name in pairs if name in ids and type(real) in _PLAIN), None)


_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})
