"""A small text encoder."""

from .model import Encoder, encode_batch
from .tracking import Tracker

__all__ = ["Encoder", "Tracker", "encode_batch"]
