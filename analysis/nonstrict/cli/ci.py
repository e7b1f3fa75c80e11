"""Whether a command runs in CI, where nothing is written that nobody asked for."""

from __future__ import annotations

import os


def in_ci() -> bool:
    """Whether the variable `CI` is set, as GitHub, GitLab and most others set it."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}
