"""Encode a few batches at two temperatures and report what it took."""

import argparse
import time

import torch

from textenc import Encoder, Tracker, encode_batch
from textenc.attention import STATS, set_temperature
from textenc.model import augment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--project", default="textenc-profile")
    args = parser.parse_args()

    tracker = Tracker(args.project)
    torch.manual_seed(0)
    encoder = Encoder().eval()
    options = {"width": 2.0}
    for batch in range(args.batches):
        if batch == args.batches // 2:
            set_temperature(0.5)
        hidden = torch.randn(2, args.length, 16)
        mask = torch.ones(2, args.length, dtype=torch.bool)
        start = time.perf_counter()
        vectors = encode_batch(encoder, augment(hidden, options), mask)
        tracker.log(seconds=time.perf_counter() - start, norm=float(vectors.norm()), dropped=options["dropped"])
    print(STATS["calls"], "calls")


if __name__ == "__main__":
    main()
