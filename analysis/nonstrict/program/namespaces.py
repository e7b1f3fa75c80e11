"""The dict that holds the attributes of an object, `x.__dict__` and `vars(x)`: its entries are these attributes."""

from __future__ import annotations

from nonstrict.program.values import GLOBALS, Kind, Value

_NAME = "__dict__"
#: What has such a dict; that of a class cannot be written to.
_HOLDERS = frozenset({Kind.OBJECT, Kind.INSTANCE, Kind.MODULE, Kind.PYTHON_MODULE, Kind.UNKNOWN})
#: What an attribute is called whose name is not known.
ANY = "..."


def of(value: Value) -> Value | None:
    """The dict of an object; None for what has none that is known."""
    if value.kind not in _HOLDERS:
        return None
    return Value(Kind.EXTERNAL_METHOD, value.place.step(f".{_NAME}"), (value, _NAME), pending=value.pending)


def holder(value: Value) -> Value | None:
    """The object whose dict a value is, `globals()` itself; None for anything else."""
    if value.ref == GLOBALS:
        return value
    if value.kind is not Kind.EXTERNAL_METHOD or value.ref[1] != _NAME:
        return None
    return value.ref[0] if value.ref[0].kind in _HOLDERS else None


def named(key: Value) -> str:
    """The attribute that a key stands for."""
    return key.const if isinstance(key.const, str) else ANY
