"""Causal attention whose mask is a module global, rebuilt when the window changes."""

import torch
import torch.nn.functional as F

causal_mask = torch.full((8, 8), float("-inf")).triu(1)


def set_window(length, window):
    """Let every position see the last `window` positions only."""
    global causal_mask
    mask = torch.full((length, length), float("-inf"))
    causal_mask = mask.triu(1) + mask.tril(-window)


@torch._dynamo.nonstrict_trace
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return F.softmax(scores + causal_mask, dim=-1) @ value


@torch.compile(fullgraph=True)
def layer(x):
    return x + attend(x, x, x)


def main():
    torch.manual_seed(0)
    x = torch.randn(2, 8, 16)
    for window in (8, 2):
        set_window(8, window)
        try:
            agrees = torch.allclose(layer(x), x + attend(x, x, x), atol=1e-5)
        except Exception as error:
            print(f"window {window}: does not compile: {type(error).__name__}")
        else:
            print(f"window {window}: agrees with eager: {agrees}")


if __name__ == "__main__":
    main()
