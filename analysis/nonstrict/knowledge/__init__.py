"""What torch, the standard library and popular packages do, as data: a leaf layer that every other layer may read."""

from __future__ import annotations
