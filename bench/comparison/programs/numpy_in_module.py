"""A module computes with NumPy: it cannot be exported to ONNX, nor run on a GPU.

area: api
named: numpy-in-pytorch-modules
"""

import numpy
import torch


class Noise(torch.nn.Module):
    def forward(self, x):
        return x + torch.from_numpy(numpy.ones(3, dtype="float32"))  # hazard


def main():
    return [Noise()(torch.zeros(3)).sum().item()]


# truth: eager runs; aot_eager same; inductor same
