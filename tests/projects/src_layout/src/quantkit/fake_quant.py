"""Rounding to a grid, with gradients passed through."""

from __future__ import annotations

import logging
import random
import time

import torch
from torch import Tensor
from torch._dynamo import nonstrict_trace

from quantkit.config import current

logger = logging.getLogger(__name__)
ranges: dict[str, Tensor] = {}
offset = torch.zeros(1)
_last: Tensor | None = None


@nonstrict_trace
def fake_quantize(x: Tensor, name: str) -> Tensor:
    """Round `x` to the current grid; remembers its range under `name`."""
    peak = x.detach().abs().amax()
    ranges[name] = peak  # expect: NST207
    if current.verbose:
        logger.info("range of %s", name)  # expect: NST201
    scale = peak / current.levels
    rounded = torch.round((x - offset) / scale) * scale + offset  # expect: NST101
    return x + (rounded - x).detach()


@nonstrict_trace
def stochastic_round(x: Tensor, log: list[str]) -> Tensor:
    """Round up or down at random."""
    shift = random.random()  # expect: NST301
    log.append(f"{time.time():.0f} shifted")  # expect: NST202
    return torch.floor(x + shift)


def rounded_error(x: Tensor, scale: float) -> Tensor:
    """What rounding to multiples of `scale` loses."""
    return x - torch.round(x / scale) * scale


def make_calibrator(samples: Tensor, momentum: float = 0.9):
    """A function that scales by the range of `samples`, which later calls follow slowly."""
    peak = samples.abs().max()
    count = 0

    @nonstrict_trace
    def calibrate(x: Tensor) -> Tensor:
        nonlocal count
        count += 1  # expect: NST203
        if float(x.abs().max()) > 1e6:  # expect: NST402
            raise ValueError("out of range")
        return x / peak * momentum  # expect: NST102

    return calibrate
