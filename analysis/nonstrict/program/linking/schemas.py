"""Schemas of operators that torch makes of the annotations of a function: `lib.define(name + infer_schema(f))`.

Source: `torch/_library/infer_schema.py` of torch 2.13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The function of torch that makes them, and what their values are told by.
INFER_SCHEMA = "torch.library.infer_schema"
INFERRED = "inferred schema"


class Inferred(NamedTuple):
    """A schema that torch makes of a function's annotations, behind the name of the operator, if that stands there.

    `mutates` as in `Operator`.
    """

    mutates: frozenset[str] | None
    name: str = ""


def infer_schema(positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What `torch.library.infer_schema(function, mutates_args=...)` gives."""
    given = keywords.get("mutates_args", positional[1] if len(positional) > 1 else None)
    mutates = names_in(given) if given is not None else frozenset[str]()
    return Value(Kind.STRING, FRESH, INFERRED, const=Inferred(mutates))


def named_schema(left: Value, right: Value) -> Value | None:
    """`name + infer_schema(...)`; None if that is not what two strings make."""
    if right.dotted != INFERRED or right.kind is not Kind.STRING or not isinstance(left.const, str):
        return None
    return right._replace(const=right.const._replace(name=left.const + right.const.name))


def names_in(value: Value) -> frozenset[str] | None:
    """The strings that a value holds, "unknown" not among them; None if they are not known."""
    if value.kind is Kind.UNION:
        every = [names_in(alternative) for alternative in value.alternatives()]
        known = [names for names in every if names is not None]
        return frozenset[str]().union(*known) if len(known) == len(every) else None
    if value.kind is Kind.NONE:
        return frozenset()
    if isinstance(value.const, str):
        return frozenset({value.const}) - {"unknown"} or None
    if value.kind not in (Kind.LIST, Kind.TUPLE, Kind.SET) or value.heap is None:
        return None
    items = [item.const for item in value.heap.items.values()]
    if not items:
        return frozenset() if value.heap.element is None and value.heap.loose is None else None
    return frozenset(items) if all(isinstance(item, str) for item in items) else None
