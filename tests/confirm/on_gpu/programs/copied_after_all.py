"""The list copies what it is given, which the analysis does not see."""
# expected: NST807 refuted

import torch


class Copies(list):
    def append(self, one):
        super().append(one.clone())


@torch.compile(mode="reduce-overhead")
def step(x):
    return x * 2 + 1


@torch.no_grad()
def main():
    found = Copies()
    for number in range(6):
        found.append(step(torch.full((8,), float(number), device="cuda")))
    print(torch.stack(found).sum().item())


if __name__ == "__main__":
    main()
