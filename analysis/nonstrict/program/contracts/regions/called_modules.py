"""The modules that a region calls, and those that it is compiled of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import UNKNOWN, Kind
from nonstrict.program.externals import held_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.values import Value


def compiled(region: Interpreted) -> list[Value | None]:
    """The modules that are compiled to the region; None alone for a function."""
    if region.receiver is None or region.receiver.kind is not Kind.MODULE:
        return [None]
    found = {id(region.receiver.heap): region.receiver}
    for _, target in region.machine.part(Compilations).given_here():
        for one in target.alternatives():
            if one.kind is Kind.MODULE and one.ref is region.receiver.ref:
                found.setdefault(id(one.heap), one)
    return [*found.values()]


def called(region: Interpreted, layer: Effect, of: Value | None) -> Iterator[Value]:
    """The modules that a call of one calls; in another module than the region was read with, those at its place."""
    own, value = region.receiver, layer.value
    if of is not None and own is not None and of.heap is not own.heap:
        value = of if layer.place.root is Root.ARGUMENT else UNKNOWN
        for step in layer.place.path:
            value = (value.heap.step(step) if value.heap is not None else None) or UNKNOWN
    if value.kind is Kind.MODULE:
        yield value
        yield from held_modules.called(value)
