"""What TensorFlow does: native code, which torch cannot trace."""

from typing import Any

from nonstrict.models import does

@does.native("computes in TensorFlow")
def __getattr__(name: str) -> Any: ...
