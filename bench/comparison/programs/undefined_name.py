"""A branch that runs rarely uses a name that does not exist.

area: python
named: F821
"""

import torch


def summed(x, weights=None):
    if weights is not None:
        x = x * wieghts  # hazard
    return x.sum()


def main():
    return [summed(torch.ones(3)).item()]


# truth: eager runs; aot_eager same; inductor same
