"""Ends the server when the process of its client has died without saying so."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds between two looks, and from the loss of the client to the end of a server that does not end by itself.
INTERVAL = 3.0
PATIENCE = 15.0


def watch_client(process: int, ended: Callable[[], None]) -> None:
    """Call `ended`, in another thread, when a process is gone; if it cannot be seen at all it is not watched."""
    if is_alive(process):
        threading.Thread(target=_watch, args=(process, ended), name="client", daemon=True).start()


def is_alive(process: int) -> bool:
    """Whether a process of this number exists."""
    if process <= 0:
        return False
    if os.name == "nt":
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _watch(process: int, ended: Callable[[], None]) -> None:
    while is_alive(process):
        time.sleep(INTERVAL)
    ended()
    time.sleep(PATIENCE)
    os._exit(1)


def _is_alive_on_windows(process: int) -> bool:
    import ctypes

    synchronize, timeout = 0x00100000, 0x00000102
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - only there on Windows
    handle = kernel.OpenProcess(synchronize, False, process)
    if not handle:
        return False
    try:
        return kernel.WaitForSingleObject(handle, 0) == timeout
    finally:
        kernel.CloseHandle(handle)
