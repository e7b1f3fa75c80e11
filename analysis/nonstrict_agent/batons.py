"""Lets the locks of C++ extensions end with the process that holds them.

`torch.utils.file_baton` takes a lock by making a file and waits until it is gone, which is forever when an experiment
was ended while it compiled an extension (`load_inline`); the next ones share its build directory.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.utils.file_baton import FileBaton


def install_batons() -> None:
    """Make batons locks of the kernel, in this process."""
    from torch.utils.file_baton import FileBaton

    FileBaton.try_acquire = _try_acquire  # pyright: ignore[reportAttributeAccessIssue]
    FileBaton.wait = _wait  # pyright: ignore[reportAttributeAccessIssue]
    FileBaton.release = _release  # pyright: ignore[reportAttributeAccessIssue]


def _opened(baton: FileBaton) -> int:
    return os.open(baton.lock_file_path, os.O_CREAT | os.O_RDWR, 0o600)


def _try_acquire(baton: FileBaton) -> bool:
    descriptor = _opened(baton)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    baton.fd = descriptor
    return True


def _wait(baton: FileBaton) -> None:
    descriptor = _opened(baton)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    os.close(descriptor)


def _release(baton: FileBaton) -> None:
    if baton.fd is not None:
        os.close(baton.fd)
        baton.fd = None
