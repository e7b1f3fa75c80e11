"""The dict that holds the attributes of an object, `x.__dict__` and `vars(x)`: its entries are these attributes."""

from __future__ import annotations

from nonstrict.program.domain.references import ExternalMethod
from nonstrict.program.domain.values import GLOBALS, Kind, Value

_NAME = "__dict__"
#: What has such a dict; that of a class cannot be written to.
_HOLDERS = frozenset({Kind.OBJECT, Kind.INSTANCE, Kind.MODULE, Kind.PYTHON_MODULE, Kind.UNKNOWN})
#: What an attribute is called whose name is not known.
ANY = "..."


def of(value: Value) -> Value | None:
    """The dict of an object; None for what has none that is known."""
    if value.kind not in _HOLDERS:
        return None
    return Value(Kind.EXTERNAL_METHOD, value.place.step(f".{_NAME}"), ExternalMethod(value, _NAME), taint=value.taint)


def holder(value: Value) -> Value | None:
    """The object whose dict a value is, `globals()` itself; None for anything else."""
    if value.dotted == GLOBALS:
        return value
    read = value.external_method
    return read.receiver if read is not None and read.name == _NAME and read.receiver.kind in _HOLDERS else None


def named(key: Value) -> str:
    """The attribute that a key stands for."""
    return key.const if isinstance(key.const, str) else ANY
