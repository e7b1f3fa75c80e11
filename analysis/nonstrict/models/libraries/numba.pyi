"""What Numba does: its API reference. torch cannot trace its native code."""

from typing import Any

from nonstrict.models import does

@does.native("computes in Numba")
def __getattr__(name: str) -> Any: ...
def jit(*args): ...

njit = prange = jit
