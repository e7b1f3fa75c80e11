"""Makes frozen data of the objects that the commands write as JSON."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from nonstrict import findings
from nonstrict.api import results

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")


def made(kind: type[T], record: Mapping[str, Any], **others: object) -> T:
    """An object of a class of `nonstrict.api.results`: of a JSON object with its fields, and of `others` beside it."""
    hints = _hints(kind)
    told = {name: _value(hints[name], record[name]) for name in hints if name in record}
    return kind(**told, **others)


def all_made(kind: type[T], records: Iterable[Mapping[str, Any]]) -> tuple[T, ...]:
    """The same of several."""
    return tuple(made(kind, record) for record in records)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields of a class."""
    known = {**vars(results), "Mapping": Mapping, **{name: getattr(findings, name) for name in _ENUMERATIONS}}
    hints = get_type_hints(kind, known)
    return {one.name: hints[one.name] for one in fields(kind)}  # pyright: ignore[reportArgumentType]


_ENUMERATIONS = ("Applicability", "Severity", "Status")


def _value(hint: Any, value: Any) -> Any:
    """What a field of a type holds for a value of JSON."""
    if value is None:
        return None
    if get_origin(hint) is UnionType:
        hint = next(one for one in get_args(hint) if one is not type(None))
    if is_dataclass(hint):
        return made(cast("type[object]", hint), value)
    if isinstance(hint, enum.EnumMeta):
        return hint[value.upper()]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return tuple(_value(arguments[0], one) for one in value)
    if origin is Mapping:
        return {name: _value(arguments[1], one) for name, one in value.items()}
    return value
