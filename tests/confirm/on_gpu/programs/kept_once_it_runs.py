"""torch has warmed up and recorded by then: nothing raises, all results are the last one."""
# expected: NST807 confirmed

import torch


@torch.compile(mode="reduce-overhead")
def step(x):
    return torch.sin(x) + x


def warm_up(x):
    for _ in range(3):
        step(x)


@torch.no_grad()
def main():
    warm_up(torch.zeros(16, device="cuda"))
    found = []
    for number in range(5):
        found.append(step(torch.full((16,), float(number), device="cuda")))
    print(torch.stack(found).sum().item())


if __name__ == "__main__":
    main()
