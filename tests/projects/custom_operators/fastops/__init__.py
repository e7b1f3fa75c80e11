"""Operators that torch.compile calls as they are."""

from . import clipping, histogram, rotary
from .wrappers import gated, normalised, record_norm

__all__ = ["clipping", "gated", "histogram", "normalised", "record_norm", "rotary"]
