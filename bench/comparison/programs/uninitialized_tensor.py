"""`torch.Tensor(3)` holds whatever the memory held.

area: api
named: pytorch-tensor
"""

import torch


def main():
    x = torch.Tensor(3)  # hazard
    return [tuple(x.shape)]


# truth: eager runs; aot_eager same; inductor same
