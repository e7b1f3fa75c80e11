"""What the analysis says, as JSON and back: named tuples, members of enumerations, tuples and sets of them.

Every array begins with what it is. Only the classes listed here are ever made, whatever a file says.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, cast

from nonstrict import coverage, events, findings

if TYPE_CHECKING:
    from nonstrict.check.cache.places import Places

_TUPLE, _SET = "", "{}"
_RECORDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(findings.Finding, findings.Related, findings.Rebinding, findings.Span, findings.Cause, findings.Subject),
        *(findings.Fix, findings.Edit, findings.Diagnostic, findings.Location, findings.RelatedLocation),
        *(findings.LocatedFix, findings.LocatedEdit),
        *(coverage.Looked, coverage.Region, coverage.Part, coverage.Option, coverage.Break, coverage.Callee),
        coverage.Counts,
    )
}
_MEMBERS: dict[str, Any] = {
    name: kind
    for module in (findings, events)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, enum.Enum)
}
#: Records whose first field is a path.
_PLACED = frozenset({"Span", "Location"})


class Unknown(Exception):  # noqa: N818 - of a value, not of a program
    """A value of a kind that is not kept."""


def written(value: object, places: Places) -> object:
    """A value as JSON.

    Raises:
        Unknown: it holds what is not kept.
    """
    if value is None or isinstance(value, str) or type(value) in (int, float, bool):
        return value
    name = type(value).__name__
    if isinstance(value, enum.Enum):
        if name not in _MEMBERS:
            raise Unknown(name)
        return [f"{name}.", cast("object", value.value)]
    if isinstance(value, frozenset):
        members: list[Any] = sorted(cast("frozenset[Any]", value))
        return [_SET, *(written(one, places) for one in members)]
    if not isinstance(value, tuple):
        raise Unknown(name)
    items = cast("tuple[object, ...]", value)
    fields = [written(one, places) for one in items]
    if type(items) is tuple:
        return [_TUPLE, *fields]
    if name not in _RECORDS:
        raise Unknown(name)
    if name in _PLACED:
        fields[0] = places.shared(str(fields[0]))
    return [name, *fields]


def read(value: Any, places: Places) -> Any:
    """The value that `written` gave.

    Raises:
        LookupError, TypeError, ValueError: nothing of ours was written so.
    """
    if not isinstance(value, list):
        return value
    kind, *told = cast("list[Any]", value)
    fields = [read(one, places) for one in told]
    if kind == _TUPLE:
        return tuple(fields)
    if kind == _SET:
        return frozenset(fields)
    if kind.endswith("."):
        return _MEMBERS[kind[:-1]](fields[0])
    if kind in _PLACED:
        fields[0] = places.here(fields[0])
    return _RECORDS[kind](*fields)
