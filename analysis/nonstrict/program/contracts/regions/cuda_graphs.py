"""Regions that run with CUDA graphs: what has torch run them without, and for what it records one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.steps import ANY_ENTRY
from nonstrict.knowledge import cuda_graphs
from nonstrict.program.contracts.regions import devices, kept_results, recompilations
from nonstrict.program.contracts.regions.assigned import is_named
from nonstrict.program.contracts.regions.capturing import NO_CUDA_GRAPHS, CudaGraphs, Recorded
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed

#: What tells torch that a tensor stays where it is.
_STATIC = "mark_static_address"
#: What the table of CUDA graphs calls what varies, by what that of guards calls it.
_VARIES = {"size": "size", "size from 0": "size", "two sizes": "size", "int": "int", "int from 0": "int"}


def of_region(region: Interpreted) -> CudaGraphs:
    """All that is known of the CUDA graphs of a region that is compiled to some; nothing of one on the CPU."""
    if devices.is_on_cpu(region):
        return NO_CUDA_GRAPHS
    changed = tuple(_changed(region))
    # What runs without CUDA graphs has results of its own.
    kept = () if changed else tuple(kept_results.of_region(region))
    return CudaGraphs(changed, tuple(_recorded(region)), kept)


def _changed(region: Interpreted) -> Iterator[Observed]:
    """The changes of tensors in place for which torch runs the region without CUDA graphs, each place once."""
    told: set[AccessPath] = set()
    for seen in region.observed(Event.INPUT_WRITE, Event.TENSOR_WRITE):
        place = seen.effect.place
        name = _name_of(region, place)
        if place not in told and cuda_graphs.is_skipped(name) and not is_named(region.machine, _STATIC):
            told.add(place)
            yield seen


def _recorded(region: Interpreted) -> Iterator[Recorded]:
    """What varies without another compilation for each value, but with another CUDA graph."""
    for one in recompilations.symbols(region):
        kinds = {_VARIES.get(kind, "") for kind in one.kinds}
        if kinds and all(kind and cuda_graphs.is_recorded_for_each(kind) for kind in kinds):
            yield Recorded(one.seen, one.values, one.evidence)


def _name_of(region: Interpreted, place: AccessPath) -> str:
    """What the table calls where a tensor lives."""
    held = region.held_at(place)
    if place.path and held is not None and held.kind is Kind.MODULE:
        return "attribute of the module"
    if place.root is Root.ARGUMENT:
        if not place.path:
            return "argument"
        is_entry = place.path[0] == ANY_ENTRY or place.path[0].startswith("[")
        return "entry of an argument" if is_entry else "attribute of an object"
    return {Root.GLOBAL: "global", Root.CELL: "variable of the enclosing function"}.get(place.root, "")
