"""Finds what `torch.compile` freezes, loses or refuses inside functions marked for non-strict tracing."""

from __future__ import annotations

__version__ = "0.1.0"
