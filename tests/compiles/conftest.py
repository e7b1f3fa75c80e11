"""The marker of tests that compile with torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, so that `-m "not torch"` leaves these tests out."""
    config.addinivalue_line("markers", "torch: compiles real programs with torch; slow")
