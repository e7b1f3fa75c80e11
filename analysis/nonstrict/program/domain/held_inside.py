"""What the steps of a path lead to inside of a value: attributes of objects, entries of containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.values import Value, join

if TYPE_CHECKING:
    from collections.abc import Iterable


def at_path(value: Value | None, path: Iterable[str]) -> Value | None:
    """What some steps lead to, of any of the things that a value may be; None where nothing is known to be there."""
    for step in path:
        found: Value | None = None
        for one in value.alternatives() if value is not None else ():
            reached = one.heap.step(step) if one.heap is not None else None
            found = join(found, reached) if reached is not None else found
        value = found
    return value
