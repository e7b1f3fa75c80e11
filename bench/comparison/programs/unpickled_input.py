"""A message from elsewhere is unpickled.

area: security
named: S301 house-pickle
"""

import pickle

import torch


def received(message):
    return pickle.loads(message)  # hazard


def main():
    return [received(pickle.dumps(torch.ones(3))).sum().item()]


# truth: eager runs; aot_eager same; inductor same
