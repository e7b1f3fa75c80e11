"""What CuPy does: native code, which torch cannot trace."""

from typing import Any

from nonstrict.models import does

@does.native("computes in CuPy")
def __getattr__(name: str) -> Any: ...
