"""A traced function keeps the mode that a module had: `eval()` comes too late.

area: meaning
named: NST105
"""

import torch
from torch import nn


@torch._dynamo.nonstrict_trace
def dropped(layer, x):
    return layer(x)  # hazard


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(p=0.999)

    def forward(self, x):
        return dropped(self.dropout, x)


def main():
    head = Head()
    compiled = torch.compile(head)
    compiled(torch.ones(8))
    head.eval()
    return [compiled(torch.ones(8)).sum().item()]


# truth: eager runs; aot_eager wrong; inductor wrong; graphs 1, breaks 0, recompilations 0
