"""Each result is in the memory of the CUDA graph when the next call runs it."""
# expected: NST807 confirmed

import torch


@torch.compile(mode="reduce-overhead")
def step(x):
    return x * 2 + 1


@torch.no_grad()
def predictions(batches):
    found = []
    for batch in batches:
        found.append(step(batch))
    return found


def main():
    kept = predictions([torch.full((8,), float(number), device="cuda") for number in range(6)])
    print(len(kept))


if __name__ == "__main__":
    main()
