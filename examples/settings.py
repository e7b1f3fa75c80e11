"""Settings in a class that torch knows nothing of, passed to a marked function."""

from dataclasses import dataclass

import torch


@dataclass
class Settings:
    gain: float = 2.0
    shift: float = 0.5


@torch._dynamo.nonstrict_trace
def calibrate(x, settings):
    return x * settings.gain + settings.shift


@torch.compile(fullgraph=True)
def step(x, settings):
    return calibrate(x, settings)


def main():
    try:
        step(torch.ones(4), Settings())
    except Exception as error:
        print(f"step does not compile: {type(error).__name__}")


if __name__ == "__main__":
    main()
