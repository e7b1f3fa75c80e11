"""Attention scores: positions, and which kernels compute them."""

from __future__ import annotations

import logging

import torch
from flash_attn import flash_attn_func
from torch._dynamo import nonstrict_trace

logger = logging.getLogger(__name__)

HEADS = 4
alibi_slopes = torch.tensor([2.0 ** (-2 * (head + 1)) for head in range(HEADS)])
temperature = 1.0
STATS = {"calls": 0}
_distances: dict[int, torch.Tensor] = {}


def set_temperature(value: float) -> None:
    """Sharpen (below one) or flatten (above one) all attention distributions."""
    global temperature
    temperature = value


def distances(length: int) -> torch.Tensor:
    """Relative positions of `length` tokens, computed once for each length."""
    if length not in _distances:
        positions = torch.arange(length)
        _distances[length] = (positions[None, :] - positions[:, None]).abs().float()  # expect: NST207
    return _distances[length]


@nonstrict_trace
def biased_scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """Scaled dot products with a linear bias per head."""
    scores = query @ key.transpose(-1, -2)
    scores = scores / temperature  # expect: NST104
    length = scores.shape[-1]
    bias = torch.arange(length, device=scores.device).float() * alibi_slopes[:, None, None]  # expect: NST101
    STATS["calls"] += 1  # expect: NST203
    return scores - bias


@nonstrict_trace
def local_scores(scores: torch.Tensor, window: int) -> torch.Tensor:
    """Forget what is further away than `window`."""
    far = distances(scores.shape[-1]) > window
    logger.warning("local attention over %d tokens", scores.shape[-1])  # expect: NST201
    return scores.masked_fill(far, -1e4)


class FlashAttention(torch.nn.Module):
    """For GPUs: no bias, no scores."""

    def forward(self, query, key, value):
        return flash_attn_func(query, key, value, causal=True)
