"""`torch.qr` is deprecated in favor of `torch.linalg.qr`.

area: api
named: TOR101 warning
"""

import torch


def main():
    _, r = torch.qr(torch.eye(3) * 2)  # hazard
    return [r.abs().sum().item()]


# truth: eager warns UserWarning; aot_eager same; inductor same
