"""From hidden states to one vector for each text."""

from __future__ import annotations

import logging
import random

import torch

from . import attention
from .tracking import log_table

log = logging.getLogger("textenc.pooling")
projection = torch.nn.Linear(16, 16)


@torch._dynamo.nonstrict_trace
def pool(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean over the tokens that `mask` keeps."""
    if mask.sum() == 0:  # expect: NST402
        return hidden.mean(1)
    log.debug("pooling %d tokens", hidden.shape[1])  # expect: NST201
    weights = mask.float() / mask.float().sum(1, keepdim=True)
    pooled = (hidden * weights[..., None]).sum(1)
    return projection(pooled)  # expect: NST103


@torch._dynamo.nonstrict_trace
def drop_tokens(hidden: torch.Tensor, options: dict[str, float]) -> torch.Tensor:
    """Zero a random block of tokens; `options` says how many of them."""
    start = random.randrange(hidden.shape[1])  # expect: NST301
    width = int(options.get("width", 1))
    options["dropped"] = float(start)  # expect: NST202
    keep = torch.arange(hidden.shape[1], device=hidden.device)
    keep = (keep < start) | (keep >= start + width)
    return hidden * keep[None, :, None]


def report(rows):
    """Show the mean score of each text."""
    log_table("texts", [[index, attention.temperature, float(row.mean())] for index, row in enumerate(rows)])
