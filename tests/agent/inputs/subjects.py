"""Functions as users write them, for the tests of the search."""

from __future__ import annotations

import dataclasses
import enum
import functools
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


class Kind(enum.Enum):
    SUM = 1
    MEAN = 2


@dataclasses.dataclass
class Config:
    hidden_size: int
    eps: float
    weight: Tensor
    kind: Kind = Kind.SUM


def attention(query, key, value, mask=None):
    _batch, _heads, _length, width = query.shape
    scores = query @ key.transpose(-2, -1) / width**0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return scores.softmax(-1) @ value


def uneven_linear(x, weight):
    assert weight.shape == (6, 10)
    return x @ weight


def lookup(table: Tensor, input_ids: Tensor) -> Tensor:
    return F.embedding(input_ids, table)


def with_config(x: Tensor, config: Config) -> Tensor:
    if config.kind is Kind.MEAN:
        return x.mean()
    return x * config.eps + config.weight.sum()


def with_options(x, cfg):
    return F.layer_norm(x, (cfg.hidden_size,), eps=cfg.eps) * cfg.gains["first"]


def by_mode(x: Tensor, mode: str) -> Tensor:
    if mode == "double":
        return x * 2
    if mode == "root":
        return x.sqrt()
    raise ValueError("mode must be 'double' or 'root'")


def branches(x: Tensor, scale: Tensor | None = None, flip: bool = False, kind: Literal["a", "b"] = "a") -> Tensor:
    if scale is not None:
        x = x * scale
    if flip:
        x = x + 1
        if kind == "b":
            x = -x + 1
    if x.dim() == 3:
        x = x.sum(1)
    if x.sum() > 100:
        x = x / 100
    return x


def annotated(x, index, y):
    assert x.shape[:2] == y.shape
    return x[index] * y.unsqueeze(-1)


# As `from __future__ import annotations` leaves them; jaxtyping itself is not installed.
annotated.__annotations__ = {
    "x": 'Float[Tensor, "batch seq 4"]',
    "index": 'Int[Tensor, "batch"]',
    "y": "\"Float[Tensor, 'batch seq']\"",
}


def gathers(*tensors):
    return torch.cat(tensors, dim=0)


def keys(batch: dict[str, Tensor]) -> Tensor:
    return batch["image"] @ batch["weight"]


def apply(function, x):
    return function(x) + 1


def count_compilations(graph: Any, _inputs: Any) -> Any:
    compilations.append(graph)
    return graph.forward


compilations: list[Any] = []


@torch.compile(backend=count_compilations)
def compiled_helper(x):
    return x + 1


def calls_compiled(x):
    return compiled_helper(x) * 2


def chatty(x):
    print("hello")  # noqa: T201
    return x + 1


def never(x):
    raise ValueError("not today")


def exits(x):
    raise SystemExit(3)


def scalar_only(x: Tensor) -> int:
    return x.dim()


def logarithm(x):
    return x.log()


def shuffles(x):
    return x[torch.randperm(5)] + torch.rand(())


class Block(nn.Module):
    def __init__(self, dim: int, num_heads: int, scale: float = 2.0) -> None:
        super().__init__()
        assert dim % num_heads == 0
        self.norm = nn.LayerNorm(dim)
        self.conv = nn.Conv1d(dim, dim * 2, 1)
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(self.norm(x).transpose(1, 2)) * self.scale

    def gain(self, x: Tensor) -> Tensor:
        return x * self.norm.weight


class Plain:
    def __init__(self, offset: float) -> None:
        self.offset = offset

    def shift(self, x):
        return x + self.offset


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the wrapper is not to be called")

    return inner


@wrapped
def marked(x, y):
    _b, d = x.shape
    return x @ y.view(d, 3)


def documented(x):
    """Adds one.

    Example::

        x = torch.ones(2)
        documented(x)

    Other text.

    >>> documented(torch.zeros(3))
    tensor([1., 1., 1.])
    """
    return x + 1
