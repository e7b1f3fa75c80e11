"""A traced function gets an object of a class that torch does not know.

area: meaning
named: NST501 error graph-break
"""

from dataclasses import dataclass

import torch


@dataclass
class Settings:
    gain: float = 2.0


@torch._dynamo.nonstrict_trace
def calibrated(x, settings):
    return x * settings.gain


@torch.compile(fullgraph=True)
def step(x, settings):
    return calibrated(x, settings) + 1  # hazard


def main():
    return [step(torch.ones(3), Settings()).sum().item()]


# truth: eager runs; aot_eager error; inductor error; graphs 0, breaks 0, recompilations 0
