"""A list that grows is an argument of a region.

area: region
named: NST803 recompile-limit recompilation
"""

import torch


@torch.compile
def mean(history):
    return torch.stack(history).mean()  # hazard


def main():
    history = []
    results = []
    for index in range(12):
        history.append(torch.full((2,), float(index)))
        results.append(mean(history).item())
    return results


# truth: eager runs; aot_eager same; inductor same; graphs 8, breaks 0, recompilations 8
