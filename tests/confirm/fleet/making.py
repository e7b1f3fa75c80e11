"""What runs tell workers, made for tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.fleet.messages import Setup, state_of_code, version

if TYPE_CHECKING:
    from pathlib import Path


def setup(root: Path, **changed: Any) -> Setup:
    """What a run tells a worker that is like this process."""
    plain = Setup("token", version(), state_of_code(), str(root), {}, sys.executable, "cpu", "none")
    return plain._replace(**changed)
