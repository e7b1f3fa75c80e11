"""Rotary positions as an operator."""

import torch
from torch import Tensor

BASE = 10000.0


def table(length: int, width: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines of all positions."""
    rates = BASE ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = torch.outer(torch.arange(length, dtype=torch.float32), rates)
    return angles.cos().to(dtype), angles.sin().to(dtype)


@torch.library.custom_op("fastops::rotate", mutates_args=())
def rotate(x: Tensor, interleaved: bool) -> Tensor:
    """Rotate the pairs of the last dimension by their position."""
    cos, sin = table(x.shape[-2], x.shape[-1], x.dtype)
    if interleaved:
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


@rotate.register_fake
def _(x, interleaved):
    return torch.empty_like(x)


@torch.library.custom_op("fastops::rotate_", mutates_args=())
def rotate_(x: Tensor) -> Tensor:
    """The same in place; the result is the sum over positions, for checks."""
    x.copy_(rotate(x, False))  # expect: NST607
    return x.sum(-2)


@rotate_.register_fake
def _(x):
    return x.new_empty(x.shape)  # expect: NST608
