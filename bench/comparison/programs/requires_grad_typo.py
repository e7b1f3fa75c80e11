"""A misspelled attribute: the tensor gets no gradient.

area: api
named: TOR002
"""

import torch


def main():
    weight = torch.ones(3)
    weight.require_grad = True  # hazard
    return [weight.requires_grad]


# truth: eager runs; aot_eager same; inductor same
