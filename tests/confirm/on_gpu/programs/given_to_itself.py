"""A result is freed before the region that is given it reads it."""
# expected: NST807 confirmed

import torch


@torch.compile(mode="reduce-overhead")
def step(x):
    return x * 0.5 + 1


@torch.no_grad()
def main():
    x = torch.ones(8, device="cuda")
    for _ in range(4):
        x = step(x)
    print(x.sum().item())


if __name__ == "__main__":
    main()
