"""What models call: operators with a little Python around them."""

import logging
import os

import torch
from torch._dynamo import nonstrict_trace

from .clipping import lib  # noqa: F401
from .histogram import note_size
from .rotary import rotate, rotate_

logger = logging.getLogger(__name__)

gate = torch.nn.Parameter(torch.zeros(8))
eps = 1e-6
norms = {}


@nonstrict_trace
def gated(x, history):
    """Clip, rotate and gate."""
    clipped = torch.ops.fastclip.clip(x, 0.9)
    if clipped.isnan().any():  # expect: NST402
        logger.warning("not a number")  # expect: NST201
    history.append(clipped.shape[0])  # expect: NST202
    return rotate(clipped, False) * torch.sigmoid(gate)  # expect: NST103


@nonstrict_trace
def normalised(x):
    """Divide by the norm; FASTOPS_EXACT asks for the slow way."""
    if os.environ.get("FASTOPS_EXACT", "0") == "1":  # expect: NST104
        norm = x.double().pow(2).sum(-1, keepdim=True).sqrt().float() + eps
    else:
        norm = x.abs().amax(-1, keepdim=True) + eps
    norms["last"] = norm  # expect: NST207
    return x / norm


@torch.compile(fullgraph=True)
def record_norm(x):
    """The norm of the rotated input; sizes are noted on the way."""
    note_size(x)  # expect: NST610
    return rotate(x, True).norm(dim=-1)


@torch.compile
def checked_rotation(x):
    """Rotate a copy in place."""
    copy = x * 1.0
    sums = rotate_(copy)
    print("sum of positions", sums.shape)  # expect: NST701
    return copy + sums.mean()
