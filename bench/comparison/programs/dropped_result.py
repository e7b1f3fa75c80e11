"""The result of `torch.compile` is dropped: nothing is compiled.

area: use
named: NST801 house-compile-dropped
"""

import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    torch.compile(model)  # hazard
    return [model(torch.ones(2, 4)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 0, breaks 0, recompilations 0
