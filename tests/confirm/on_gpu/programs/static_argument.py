"""The address of the cache is static, which the analysis does not see."""
# expected: NST808 refuted

import torch

STATIC = "mark_static_" + "address"


@torch.compile(mode="reduce-overhead")
def decode(cache, key):
    cache.add_(key)
    return cache.sum(0)


@torch.no_grad()
def main():
    cache = torch.zeros(4, 3, device="cuda")
    getattr(torch._dynamo, STATIC)(cache)
    for _ in range(5):
        decode(cache, torch.rand(4, 3, device="cuda"))


if __name__ == "__main__":
    main()
