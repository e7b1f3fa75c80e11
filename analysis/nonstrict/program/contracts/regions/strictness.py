"""`error_on_graph_break`: where the graph must not break although its region may.

The switch is a decorator and a context manager, in the region, in what it calls, and around the call of it. The one
that is nearest to a construct counts; none of them loosens `fullgraph=True`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.objects.strict_switch import LOOSE, STRICT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.state.machine import Machine


def refuses(machine: Machine, region: Function | None, seen: Observed) -> bool:
    """Whether a construct fails a region that may break elsewhere."""
    return next((known for known in _settings(machine, region, seen) if known is not None), False)


def _settings(machine: Machine, region: Function | None, seen: Observed) -> Iterator[bool | None]:
    """What switches around a construct say, the nearest first."""
    yield seen.effect.strict
    for edge in reversed(seen.chain):
        yield _of_function(edge.summary.definition)
        yield edge.strict
    yield _of_function(region)
    yield region is not None and region.node in machine.called_strictly


def _of_function(function: Function | None) -> bool | None:
    traits = function.traits if function is not None else frozenset[str]()
    return True if STRICT in traits else False if LOOSE in traits else None
