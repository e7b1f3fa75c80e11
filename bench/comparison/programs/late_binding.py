"""Functions made in a loop share its variable: all scale by the last number.

area: python
named: B023
"""

import torch


def main():
    scales = []
    for factor in (1, 2, 3):
        scales.append(lambda x: x * factor)  # hazard
    return [scale(torch.ones(1)).item() for scale in scales]


# truth: eager runs; aot_eager same; inductor same
