"""Numbers that a region reads from a module, an object or a global, as arguments, which it is compiled for less often.

Of the same number Dynamo makes a constant where a module holds it, and a symbol where it is passed (NST803).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.fixes.captures.arguments import captured_by, captured_passed
from nonstrict.fixes.captures.attributes import attribute_passed
from nonstrict.fixes.captures.passable import is_written
from nonstrict.fixes.marks.staying import recompilation
from nonstrict.program.contracts.regions import ways_out
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Flag, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Fix
    from nonstrict.fixes.context import Context

_OF_OBJECTS = frozenset({Root.ARGUMENT, Root.RECEIVER})
_ELSEWHERE = frozenset({Root.GLOBAL, Root.CELL})


def passed(context: Context) -> Iterator[Fix]:
    """`net(x, net.scale)`: callers read the number, where that has the region compiled less often."""
    found = recompilation(context)
    if found is None or not ways_out.helps_as_argument(context.body, found) or is_written(context, found.place):
        return
    if found.place.root in _OF_OBJECTS and not _may_be_missing(context, found.place.name):
        yield from attribute_passed(context, found.seen.effect.span, found.place, "")
    elif found.place.seen_as in _ELSEWHERE:
        captured = captured_by(context, found.seen)
        yield from captured_passed(context, captured) if captured is not None else ()


def _may_be_missing(context: Context, name: str) -> bool:
    """Whether a parameter may be None, so that its callers cannot read an attribute of it."""
    held = context.body.arguments.get(name)
    return held is not None and any(
        one.kind is Kind.NONE or bool(one.flags & Flag.OPTIONAL) for one in held.alternatives()
    )
