"""Losses are kept beyond their backward pass, and read once training is over."""
# expected: NST807 confirmed

import torch
from torch import nn

model = nn.Linear(8, 1).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(mode="reduce-overhead")
def loss_of(x, y):
    return ((model(x) - y) ** 2).mean()


def main():
    losses = []
    for _ in range(6):
        loss = loss_of(torch.rand(4, 8, device="cuda"), torch.rand(4, 1, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print(torch.stack(losses).mean().item())


if __name__ == "__main__":
    main()
