"""Values of tensors and of what holds them, as JSON: exact for small tensors, hashed and sampled for large ones."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: Elements of a tensor that cross to the engine; of a larger one every n-th does.
MAX_ELEMENTS = 4096
#: Bytes of a tensor that are hashed; of a larger one its beginning.
MAX_HASHED_BYTES = 1 << 24
_MAX_LEAVES = 256
_MAX_REPR = 200
#: Classes of tensors that exist only while torch traces.
TRACING_CLASSES = frozenset({"FakeTensor", "FunctionalTensor", "ProxyTensor", "FunctionalTensorWrapper"})


def encode(value: object) -> dict[str, Any]:
    """The structure of a value and its leaves.

    A leaf that is a tensor is `{"dtype", "shape", "class", "grad", "hash", "data"}`, where `data` is base64 of
    doubles (of signed 64-bit integers for integer and boolean tensors; pairs of doubles for complex ones). Any
    other leaf is `{"type", "repr"}`.
    """
    from torch.utils import _pytree

    leaves, structure = _pytree.tree_flatten(value)
    return {"structure": str(structure)[:_MAX_REPR], "leaves": [encode_leaf(leaf) for leaf in leaves[:_MAX_LEAVES]]}


def encode_leaf(leaf: object) -> dict[str, Any]:
    """One leaf of `encode`."""
    import torch

    if not isinstance(leaf, torch.Tensor):
        return {"type": type(leaf).__name__, "repr": _shown(leaf)}
    name = type(leaf).__name__
    if name in TRACING_CLASSES:
        return {"type": name, "repr": name, "leaked": True}
    record: dict[str, Any] = {
        "dtype": str(leaf.dtype).removeprefix("torch."),
        "shape": shape_of(leaf),
        "class": name,
        "grad": leaf.requires_grad,
    }
    try:
        record["hash"] = tensor_hash(leaf)
        record["data"] = _sample(leaf)
    except Exception as error:  # noqa: BLE001 - subclasses of tensors may raise anything
        record["opaque"] = f"{type(error).__name__}: {error}"[:_MAX_REPR]
    return record


def tensor_hash(tensor: torch.Tensor) -> str:
    """A hash of a tensor's elements in row-major order; NaNs of one bit pattern are equal."""
    import torch

    flat = _plain(tensor).contiguous().reshape(-1)
    if not flat.numel():
        return ""
    size = MAX_HASHED_BYTES // max(flat.element_size(), 1)
    raw = bytes(flat[:size].view(torch.uint8).tolist()) if flat.numel() <= 64 else _raw(flat[:size])
    return hashlib.blake2b(raw, digest_size=12).hexdigest()


def shape_of(tensor: torch.Tensor) -> list[int]:
    """The sizes of a tensor; of a nested one, only how many it holds."""
    return [tensor.size(0)] if tensor.is_nested else list(tensor.shape)


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """The elements of a tensor of any class and layout, in memory of their own class that may be read.

    A subclass that wraps other tensors has no memory, and its data pointer leads anywhere.
    """
    import torch
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    with torch._C.DisableTorchFunctionSubclass():
        bare = tensor.detach()
        if bare.is_nested:
            return _joined([torch.tensor([part.numel() for part in bare.unbind()]), *bare.unbind()], tensor.dtype)
        if is_traceable_wrapper_subclass(bare):
            return _joined([getattr(bare, name) for name in bare.__tensor_flatten__()[0]], tensor.dtype)
        own = (cls for cls in type(bare).__mro__ if cls not in torch.Tensor.__mro__)
        if any("__torch_dispatch__" in vars(cls) for cls in own):
            bare = torch.zeros(bare.shape, dtype=bare.dtype).copy_(bare)
        if type(bare) is not torch.Tensor:
            bare = bare.as_subclass(torch.Tensor)
        bare = bare.cpu().resolve_conj().resolve_neg()
        return bare if bare.layout is torch.strided else bare.to_dense()


def _joined(parts: list[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """The elements of several tensors in a row, in the widest dtype of the kind that is given."""
    import torch

    wide = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
    return torch.cat([_plain(part).reshape(-1).to(wide) for part in parts])


def _raw(flat: torch.Tensor) -> bytes:
    """The bytes of a contiguous tensor on the CPU, without needing NumPy."""
    import ctypes

    return ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size())


def _sample(tensor: torch.Tensor) -> str:
    import torch

    flat = _plain(tensor).reshape(-1)
    if flat.numel() > MAX_ELEMENTS:
        flat = flat[:: -(-flat.numel() // MAX_ELEMENTS)]
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    wide = flat.to(torch.float64 if flat.is_floating_point() else torch.int64).contiguous()
    return base64.b64encode(_raw(wide)).decode("ascii") if wide.numel() else ""


def _shown(value: object) -> str:
    """`repr`, without the address that differs from process to process."""
    import re

    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a user's __repr__ may raise anything
        return f"<repr raised {type(error).__name__}>"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)[:_MAX_REPR]
