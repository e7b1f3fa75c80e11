"""Attributes and methods of tensors."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.rehearsal import shaping
from nonstrict.program.rehearsal.applied import applied
from nonstrict.program.rehearsal.dtypes import dtype_named, dtype_of
from nonstrict.program.rehearsal.tensors import needs_gradients, sizes_of
from nonstrict.program.rehearsal.things import UNKNOWN, External, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

_MADE_LIKE = frozenset({"new_zeros", "new_ones", "new_empty", "new_full"})
_EXTREMES = {"max": max, "min": min, "sum": sum}


def attribute(stage: Stage, tensor: Tensor, name: str) -> Thing:
    """What an attribute of a tensor holds; `UNKNOWN` for methods and what is not known."""
    if name == "shape":
        return tensor.shape if tensor.shape is not None else UNKNOWN
    if name == "ndim":
        return len(tensor.shape) if tensor.shape is not None else UNKNOWN
    if name == "dtype":
        return External(f"torch.{tensor.dtype}") if tensor.dtype else UNKNOWN
    if name == "requires_grad":
        return tensor.requires_grad
    if name == "is_cuda":
        return False
    if name == "device":
        return External("torch.device")
    if name in ("data", "real"):
        return Tensor(tensor.shape, tensor.dtype, numbers=tensor.numbers, layout=tensor.layout)
    if name in ("T", "mT", "H"):
        return shaping.transposed(stage, tensor)
    if name == "grad":
        is_given = stage.trained and tensor.requires_grad and tensor.grad is None
        return Tensor(tensor.shape, tensor.dtype) if is_given else tensor.grad
    return UNKNOWN


def keep(tensor: Tensor, name: str, value: Thing) -> None:
    """Set an attribute of a tensor."""
    if name == "requires_grad":
        tensor.requires_grad = value is not False
    elif name == "data" and isinstance(value, Tensor):
        tensor.shape, tensor.dtype, tensor.numbers = value.shape, value.dtype, value.numbers
    elif name == "grad":
        tensor.grad = value if isinstance(value, Tensor) else None


def called(stage: Stage, tensor: Tensor, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a method of a tensor gives."""
    if name == "backward":
        stage.trained = True
        return None
    if name in ("item", "tolist"):
        return _numbers(tensor, name)
    if name in ("size", "dim", "numel", "nelement", "element_size", "stride", "is_contiguous", "__len__"):
        return _form(tensor, name, given)
    if name == "requires_grad_":
        tensor.requires_grad = (given[0] if given else True) is not False
        return tensor
    if name in ("detach", "detach_"):
        return Tensor(tensor.shape, tensor.dtype, numbers=tensor.numbers, layout=tensor.layout)
    if name == "clone":
        return _as(stage, tensor, tensor.dtype)
    if name in ("to", "type", "cuda", "cpu", "type_as") or dtype_named(name):
        return _converted(stage, tensor, name, given, named)
    if name in _MADE_LIKE:
        return Tensor(
            sizes_of(list(given[:1] if name == "new_full" else given)), dtype_of(named.get("dtype")) or tensor.dtype
        )
    if name in _EXTREMES and not given and not named and tensor.numbers:
        return Tensor((), tensor.dtype, numbers=(_EXTREMES[name](tensor.numbers),))
    operator = tensor_method(name)
    if operator is None:
        return UNKNOWN
    if name == "contiguous":
        layout = shaping.laid_out(tensor, named.get("memory_format", given[0] if given else None))
        return Tensor(tensor.shape, tensor.dtype, needs_gradients(stage, (tensor,), tensor.dtype), layout=layout)
    return applied(stage, name, operator, (tensor, *given), named)


def _numbers(tensor: Tensor, name: str) -> Thing:
    if tensor.numbers is None or tensor.shape is None:
        return UNKNOWN
    if not tensor.shape or name == "item":
        return tensor.numbers[0] if len(tensor.numbers) == 1 else UNKNOWN
    if len(tensor.shape) == 1:
        return list(tensor.numbers)
    width = prod(tensor.shape[1:])
    rows = (tensor.numbers[at * width : (at + 1) * width] for at in range(tensor.shape[0]))
    return [list(row) for row in rows] if len(tensor.shape) == 2 else UNKNOWN


def _form(tensor: Tensor, name: str, given: Sequence[Thing]) -> Thing:
    if tensor.shape is None:
        return UNKNOWN
    if name == "size":
        at = given[0] if given else None
        return tensor.shape[at] if isinstance(at, int) else tensor.shape if at is None else UNKNOWN
    if name == "dim":
        return len(tensor.shape)
    if name in ("numel", "nelement"):
        return prod(tensor.shape)
    if name == "__len__":
        return tensor.shape[0] if tensor.shape else UNKNOWN
    return not tensor.layout if name == "is_contiguous" else UNKNOWN


def _converted(stage: Stage, tensor: Tensor, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Tensor:
    told = next((dtype for one in (*given, *named.values()) if (dtype := dtype_of(one))), "")
    other = next((one for one in given if isinstance(one, Tensor)), None)
    dtype = told or dtype_named(name) or (other.dtype if other is not None else tensor.dtype)
    unknown = any(one is UNKNOWN for one in given) and name in ("to", "type")
    if dtype == tensor.dtype and "memory_format" not in named:
        return tensor
    made = _as(stage, tensor, "" if unknown and not told else dtype)
    made.layout = shaping.laid_out(tensor, named.get("memory_format")) or made.layout
    return made


def _as(stage: Stage, tensor: Tensor, dtype: str) -> Tensor:
    gradients = needs_gradients(stage, (tensor,), dtype)
    layout = "" if tensor.layout in ("cut", "expanded") else tensor.layout
    return Tensor(tensor.shape, dtype, gradients, numbers=tensor.numbers, layout=layout)
