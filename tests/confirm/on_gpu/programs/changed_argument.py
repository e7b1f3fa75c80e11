"""A cache that is changed in place: torch runs without CUDA graphs, and names the line."""
# expected: NST808 confirmed

import torch


@torch.compile(mode="reduce-overhead")
def decode(cache, position, key):
    cache.index_copy_(0, position, key)
    return cache.sum(0)


@torch.no_grad()
def main():
    cache = torch.zeros(4, 3, device="cuda")
    for index in range(4):
        decode(cache, torch.tensor([index], device="cuda"), torch.rand(1, 3, device="cuda"))


if __name__ == "__main__":
    main()
