"""A rotary position embedding that builds its cosine table the first time it is used."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.register_buffer("inverse", 1.0 / 10_000 ** (torch.arange(0, width, 2).float() / width))
        self.table = None

    @torch._dynamo.nonstrict_trace
    def rotate(self, x):
        if self.table is None or self.table.shape[0] < x.shape[-2]:
            angles = torch.outer(torch.arange(x.shape[-2], device=x.device).float(), self.inverse)
            self.table = torch.cos(angles).repeat_interleave(2, dim=-1)
        return x * self.table[: x.shape[-2]]

    def forward(self, x):
        return self.rotate(x)


def main():
    torch.manual_seed(0)
    rotary = Rotary(8)
    compiled = torch.compile(rotary, fullgraph=True)
    x = torch.randn(4, 8)
    try:
        compiled(x)
    except Exception as error:
        print("does not compile:", type(error).__name__)
    print("table left behind:", type(rotary.table).__name__)


if __name__ == "__main__":
    main()
