"""`torch.log(1 + x)` loses small numbers, `torch.log1p` does not.

area: api
named: TOR106
"""

import torch


def main():
    x = torch.tensor([1e-9])
    return [torch.log(1 + x).item()]  # hazard


# truth: eager runs; aot_eager same; inductor same
