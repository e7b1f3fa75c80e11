"""Lists of flags that are drawn anew for each call of a region: which layers to run, which modality to drop.

Dynamo guards each flag that a region decides by, and compiles for each combination (measured on torch 2.13).
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.program.contracts.boundary import drawing, repeated
from nonstrict.program.domain.values import UNKNOWN, Kind
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.interpret.rounds import SOME, length
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.interpret.makers import Making

#: What the table of guards calls them, by what makes them.
_LIST = "list of flags"
_MAKES = {"builtins.list": _LIST, "builtins.tuple": "tuple of flags"}
KINDS = frozenset(_MAKES.values())
#: Longer lists have more combinations than anyone draws.
_MOST = 16


class Drawn(NamedTuple):
    """Such a list: what the table of guards calls it, how many there are, and the call that passes one."""

    kind: str
    number: int
    passing: Passing


def kind_of(container: str) -> str:
    """What the table of guards calls flags in a container of Python by that name."""
    return _MAKES[f"builtins.{container}"]


def of_calls(calls: Iterable[Passing]) -> Drawn | None:
    """The lists of flags that calls draw; None where they are not seen to."""
    found = (_of_call(one) for one in calls)
    return max((one for one in found if one is not None), key=lambda one: one.number, default=None)


def _of_call(one: Passing) -> Drawn | None:
    if one.expression is None:
        return None
    making = made_by(one.frame, one.expression)
    kind, flags = _comprehension(making)
    flag = making.frame.machine.evaluate(making.frame, flags.elt) if flags is not None else UNKNOWN
    if flags is None or flag.kind is not Kind.BOOL or not any(effect.event is Event.RANDOM for effect in flag.taint):
        return None
    times = repeated.times_anew(one)
    several = prod(length(making.frame, part.iter, SOME) for part in flags.generators)
    return Drawn(kind, drawing.different(2 ** min(several, _MOST), times), one) if times > 1 else None


def _comprehension(making: Making) -> tuple[str, ast.ListComp | ast.GeneratorExp | None]:
    """The comprehension that makes a list or a tuple."""
    made, kind = making.expression, ""
    if isinstance(made, ast.Call) and len(made.args) == 1:
        kind, made = _MAKES.get(naming.names_at(making.frame)(made.func), ""), made.args[0]
    if isinstance(made, ast.ListComp):
        return kind or _LIST, made
    return (kind, made) if isinstance(made, ast.GeneratorExp) and kind else ("", None)
