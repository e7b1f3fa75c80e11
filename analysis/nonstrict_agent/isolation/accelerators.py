"""The device files of accelerators, by which a machine shows that it has one and a process that it uses one.

`/dev/dxg` is the GPU of Windows below Linux (WSL 2). Where `CUDA_VISIBLE_DEVICES` is set to nothing, CUDA finds no GPU.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How the names in `/dev` begin.
NAMES = ("nvidia", "dri", "kfd", "accel", "dxg")
_OF_CUDA = tuple(f"/dev/{name}" for name in ("nvidia", "dxg"))
_CONTROLLING = ("/dev/nvidiactl", "/dev/dxg")
_VISIBLE = "CUDA_VISIBLE_DEVICES"


def is_of_cuda(path: str) -> bool:
    """Whether a path is a device file that CUDA opens."""
    return path.startswith(_OF_CUDA)


def may_have_cuda(environment: Mapping[str, str]) -> bool:
    """Whether the machine looks as if CUDA found a GPU, and the environment lets it."""
    if not environment.get(_VISIBLE, "0").strip():
        return False
    return sys.platform == "win32" or any(map(os.path.exists, _CONTROLLING))
