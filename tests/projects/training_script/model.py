"""A classifier of sensor readings."""

import logging

import torch
from torch import nn

log = logging.getLogger(__name__)


class Classifier(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(4, hidden)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(hidden, 3)
        self.step = 0
        self.verbose = False

    def forward(self, x):
        h = torch.relu(self.first(x))
        h = self.drop(h) * (1.0 + 0.01 * self.step)  # expect: NST803
        if self.verbose:
            print("hidden", h.norm())
        if h.abs().max() > 100:  # expect: NST701
            log.warning("activations explode")  # allow: NST701
        return self.last(h)


@torch._dynamo.nonstrict_trace
def penalty(model, x):
    """How much the output changes when the input is shaken."""
    shaken = model.last(model.drop(torch.relu(model.first(x + 0.01))))  # expect: NST105
    return (shaken ** 2).mean()
