"""Rotary tables, computed lazily."""

import functools

import torch


@functools.lru_cache(maxsize=8)  # expect: NST207
def rope_table(length: int, width: int):
    rates = 10000.0 ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(torch.arange(length).float(), rates)
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


class Mask:
    """Causal masks of all lengths seen so far."""

    table = None

    @classmethod
    def of(cls, length: int) -> torch.Tensor:
        if cls.table is None or cls.table.shape[0] < length:
            cls.table = torch.full((length, length), float("-inf")).triu(1)  # expect: NST207
        return cls.table[:length, :length]  # expect: NST101
