"""`torch.symeig` was removed from torch.

area: api
named: TOR001 error
"""

import torch


def main():
    values, _ = torch.symeig(torch.eye(3), eigenvectors=True)  # hazard
    return [values.sum().item()]


# truth: eager raises RuntimeError; aot_eager same; inductor same
