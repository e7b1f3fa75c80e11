"""A copy takes the place of what was kept before the next run, which the analysis does not see."""
# expected: NST807 refuted

import torch


@torch.compile(mode="reduce-overhead")
def step(x):
    return x * 2 + 1


@torch.no_grad()
def main():
    found = []
    for number in range(6):
        found.append(step(torch.full((8,), float(number), device="cuda")))
        found[-1] = found[-1].clone()
    print(torch.stack(found).sum().item())


if __name__ == "__main__":
    main()
