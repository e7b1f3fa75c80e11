"""Clipping by quantile, with the older registration interface."""

import torch

CALLS = []

lib = torch.library.Library("fastclip", "DEF")
lib.define("clip(Tensor x, float q) -> Tensor")
lib.define("rescale(Tensor x, Tensor scale) -> Tensor")
lib.define("halve(Tensor x) -> Tensor")  # expect: NST606


def clip(x, q):
    CALLS.append(q)
    bound = torch.quantile(x.abs(), q)
    return x.clamp(-bound, bound)


def clip_fake(x, q):
    return torch.empty_like(x)


def rescale(x, scale):
    scale.mul_(0.5)  # expect: NST607
    return x * scale


def rescale_fake(x, scale):
    return torch.empty_like(x)


def halve(x):
    return (x / 2).to(torch.float32)


lib.impl("clip", clip, "CPU")
lib.impl("clip", clip_fake, "Meta")
lib.impl("rescale", rescale, "CompositeExplicitAutograd")
torch.library.register_fake("fastclip::rescale", rescale_fake, lib=lib)
lib.impl("halve", halve, "CPU")
