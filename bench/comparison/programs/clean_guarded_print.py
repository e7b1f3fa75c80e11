"""What would break the graph is kept out of it: eager code prints, the region does not.

area: clean
"""

import torch


@torch.compile
def step(x):
    if not torch.compiler.is_compiling():
        print("norm", x.norm().item())
    return torch.where(x.sum() > 0, -x, x) + 1


def main():
    return [torch.is_tensor(step(torch.ones(3)))]


# truth: eager runs; aot_eager effects lost; inductor effects lost; graphs 1, breaks 0, recompilations 0
