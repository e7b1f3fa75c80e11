"""Losses and augmentation."""

import random

import torch
import torch.nn.functional as F

CLASS_WEIGHTS = torch.ones(3)
smoothing = 0.1
history = []


@torch._dynamo.nonstrict_trace
def weighted_loss(logits, target):
    """Cross entropy with label smoothing and class weights."""
    logp = F.log_softmax(logits, dim=-1)
    picked = -logp.gather(1, target[:, None])[:, 0] * CLASS_WEIGHTS[target]  # expect: NST101
    loss = picked.mean() - smoothing * logp.mean()  # expect: NST104
    history.append(loss.detach())  # expect: NST207
    return loss


@torch._dynamo.nonstrict_trace
def mixup(x):
    """Mix each row with its neighbour."""
    share = random.uniform(0.0, 0.2)  # expect: NST301
    print("mixing", x.shape[0], "rows")  # expect: NST201
    return (1 - share) * x + share * x.roll(1, 0)


@torch._dynamo.nonstrict_trace
def centred(x, running):
    """Subtract the running mean, which is kept in `running`."""
    mean = x.mean(0)
    if "mean" not in running:
        running["mean"] = torch.zeros_like(mean)  # expect: NST202
    running["count"] = running.get("count", 0) + 1  # expect: NST202
    return x - running["mean"] - 0.1 * mean
