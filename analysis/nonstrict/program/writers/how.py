"""What writes do to what they reach."""

from __future__ import annotations

import enum


class How(enum.Enum):
    """What a write does; the value is what users read at its place."""

    REBOUND = "rebound here"
    CHANGED = "changed here"
    IN_PLACE = "changed in place here"
    PARAMETERS = "its parameters are replaced here"
