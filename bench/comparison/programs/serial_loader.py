"""A loader without workers: batches are made while the model waits.

area: cost
named: TOR401
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.ones(6, 2)), batch_size=3)  # hazard
    return [sum(batch.sum().item() for (batch,) in loader)]


# truth: eager runs; aot_eager same; inductor same
