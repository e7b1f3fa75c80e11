"""Results of a region with CUDA graphs are kept in a list: on a GPU, each call overwrites that of the one before."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compile(mode="reduce-overhead")
def encode(frame):
    return torch.tanh(frame).mean(dim=0)


@torch.no_grad()
def encode_all(frames):
    encoded = []
    for frame in frames:
        encoded.append(encode(frame))
    return encoded


def main():
    encoded = encode_all(torch.randn(5, 8, 4, device=DEVICE))
    try:
        print(f"frames: {len(encoded)}, different results: {len(torch.stack(encoded).unique(dim=0))}")
    except RuntimeError as error:
        print(f"frames: {len(encoded)}, {error}")


if __name__ == "__main__":
    main()
