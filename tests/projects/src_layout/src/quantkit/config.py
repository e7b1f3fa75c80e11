"""Settings, as a module-wide object that a context manager replaces for a while."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class QuantConfig:
    """How values are rounded."""

    bits: int = 8
    symmetric: bool = True
    verbose: bool = False

    @property
    def levels(self) -> int:
        """Number of steps to each side of zero."""
        return 2 ** (self.bits - 1) - 1  # expect: NST104


current = QuantConfig()


@contextlib.contextmanager
def bits(count: int) -> Iterator[QuantConfig]:
    """Round to another number of bits inside the block."""
    before, current.bits = current.bits, count
    try:
        yield current
    finally:
        current.bits = before
