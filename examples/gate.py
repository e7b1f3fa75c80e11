"""A gate that decides by the values of what it is given, and a scale that decides by its address."""

import torch

@torch._dynamo.nonstrict_trace
def gate(x, threshold):
    if x.abs().max().item() > threshold:
        x = x.clamp(-threshold, threshold)
    return x


@torch._dynamo.nonstrict_trace
def scale(x):
    if x.data_ptr() % 64:
        x = x.clone()
    return x * 0.5


@torch.compile(fullgraph=True)
def clip(x):
    return gate(x, 1.0)


@torch.compile(fullgraph=True)
def halve(x):
    return scale(x)


def main():
    for region in (clip, halve):
        try:
            region(torch.linspace(-2.0, 2.0, 5))
        except Exception as error:
            print(f"{region.__name__} does not compile: {type(error).__name__}")


if __name__ == "__main__":
    main()
