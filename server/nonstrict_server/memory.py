"""Memory that is free is given back to the system, where the allocator would keep it for later."""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: A text of so many characters leaves enough behind, trees above all, that it is worth a pause to be rid of it.
LARGE = 300_000


def give_back() -> None:
    """Collect what is garbage and hand free memory back: tens of milliseconds, for when nobody waits."""
    gc.collect()
    _trim()()


@functools.cache
def _trim() -> Callable[[], object]:
    """What the C library has for that; nothing elsewhere than in glibc and on macOS."""
    name, arguments = ("malloc_zone_pressure_relief", (None, 0)) if sys.platform == "darwin" else ("malloc_trim", (0,))
    try:
        trim = getattr(ctypes.CDLL(None), name)
        trim.argtypes = [ctypes.c_void_p, ctypes.c_size_t][-len(arguments) :]
    except (AttributeError, OSError, TypeError):
        return lambda: None
    return functools.partial(trim, *arguments)
