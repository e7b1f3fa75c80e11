"""`checkpoint` without `use_reentrant`, whose default changes.

area: api
named: TOR003 warning
"""

import torch
from torch.utils.checkpoint import checkpoint


def main():
    x = torch.ones(3, requires_grad=True)
    checkpoint(torch.tanh, x).sum().backward()  # hazard
    return [x.grad.sum().item()]


# truth: eager warns UserWarning; aot_eager same; inductor same
