"""A checkpoint is made of the compiled module: its keys begin with `_orig_mod.`, and nothing of it is loaded.

area: use
named: NST802
"""

import torch
from torch import nn


def main():
    torch.manual_seed(0)
    trained = torch.compile(nn.Linear(4, 4))
    trained(torch.ones(2, 4))
    other = nn.Linear(4, 4)
    other.load_state_dict(trained.state_dict(), strict=False)  # hazard
    return [torch.equal(other.weight, trained.weight)]


# truth: eager runs; aot_eager wrong; inductor wrong; graphs 1, breaks 0, recompilations 0
