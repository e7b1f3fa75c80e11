"""Layers with quantised weights."""

from __future__ import annotations

import torch
from torch import nn

from quantkit.fake_quant import fake_quantize, rounded_error


class QuantLinear(nn.Linear):
    """A linear layer whose weight is rounded in every forward pass."""

    def __init__(self, inputs: int, outputs: int, *, dropout: float = 0.0):
        super().__init__(inputs, outputs)
        self.drop = nn.Dropout(dropout)
        self.gain = 1.0
        self.seen: list[int] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, fake_quantize(self.weight, "weight"), self.bias)

    @torch._dynamo.nonstrict_trace
    def residual(self, x: torch.Tensor) -> torch.Tensor:
        """What rounding the output would lose."""
        out = self.drop(nn.functional.linear(x, self.weight))  # expect: NST105
        self.seen.append(x.shape[0])  # expect: NST202
        return rounded_error(out, 0.125) * self.gain  # expect: NST105


@torch.compile(fullgraph=True)
def forward_quantized(layer: QuantLinear, x: torch.Tensor) -> torch.Tensor:
    """The layer's output, and nothing else, compiled."""
    return torch.relu(layer(x))


@torch.compile(fullgraph=True)
def loss_with_residual(layer: QuantLinear, x: torch.Tensor) -> torch.Tensor:
    """Mean square of what rounding loses."""
    return layer.residual(x).pow(2).mean()
