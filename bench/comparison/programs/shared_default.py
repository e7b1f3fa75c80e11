"""A default argument is one list for all calls.

area: python
named: B006
"""

import torch


def collected(x, into=[]):  # hazard
    into.append(x.sum().item())
    return len(into)


def main():
    collected.__defaults__[0].clear()
    return [collected(torch.ones(1)) for _ in range(3)]


# truth: eager runs; aot_eager same; inductor same
