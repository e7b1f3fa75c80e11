"""A CUDA graph for each length."""
# expected: NST808 confirmed

import torch


@torch.compile(mode="reduce-overhead")
def encode(x):
    return torch.relu(x * 2) + 1


@torch.no_grad()
def main():
    for length in range(2, 8):
        for _ in range(2):
            encode(torch.rand(length, 3, device="cuda"))


if __name__ == "__main__":
    main()
