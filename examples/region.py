"""A step that must not break, with a clock in one of its helpers."""

import time

import torch


def aged(x, since):
    return x * 0.5 ** (time.time() - since)


@torch.compile(fullgraph=True)
def step(x, since):
    return aged(x, since).sum()


def main():
    try:
        step(torch.ones(4), 0.0)
    except Exception as error:
        print(f"step does not compile: {type(error).__name__}")


if __name__ == "__main__":
    main()
