"""The encoder."""

from __future__ import annotations

import torch
from apex.normalization import FusedLayerNorm
from torch import nn

from .attention import HEADS, FlashAttention, biased_scores, local_scores
from .pooling import drop_tokens, pool


class Encoder(nn.Module):
    """One layer of attention and a pooled result."""

    def __init__(self, width: int = 16, window: int = 4, fused: bool = False, flash: bool = False):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.norm = FusedLayerNorm(width) if fused else nn.LayerNorm(width)
        self.flash = FlashAttention() if flash else None
        self.window = window

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, width = hidden.shape
        query, key, value = (
            part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
            for part in self.qkv(self.norm(hidden)).chunk(3, dim=-1)
        )
        scores = local_scores(biased_scores(query, key), self.window)
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width)
        return pool(hidden + mixed, mask)


@torch.compile(fullgraph=True)
def encode_batch(encoder: Encoder, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Vectors of length one."""
    return nn.functional.normalize(encoder(hidden, mask), dim=-1)


@torch.compile(fullgraph=True)
def augment(hidden: torch.Tensor, options: dict[str, float]) -> torch.Tensor:
    """What training sees in place of `hidden`."""
    return drop_tokens(hidden * 2, options)
