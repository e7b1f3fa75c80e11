"""Regions that run with CUDA graphs: what has torch run them without, and for what it records one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.steps import ANY_ENTRY
from nonstrict.knowledge import cuda_graphs
from nonstrict.program.contracts.regions import calls, devices, guard_sources, kept_results, left_out, recompilations
from nonstrict.program.contracts.regions.assigned import is_named
from nonstrict.program.contracts.regions.capturing import NO_CUDA_GRAPHS, CudaGraphs, Recorded
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.held_inside import at_path
from nonstrict.program.domain.values import UNKNOWN, Flag, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Observed

#: What tells torch that a tensor stays where it is.
_STATIC = "mark_static_address"
#: What switches them on and off for a part of a region.
_OVERRIDE = "override_cudagraphs"
#: So many values are recorded and done, as of batches of which the last is smaller.
_FEW = 2
#: What the table of CUDA graphs calls what varies, by what that of guards calls it.
_VARIES = {"size": "size", "size from 0": "size", "int": "int", "int from 0": "int"}


def of_region(region: Interpreted) -> CudaGraphs:
    """All that is known of the CUDA graphs of a region that is compiled to some; nothing of one on the CPU."""
    if devices.is_on_cpu(region) or is_named(region.machine, _OVERRIDE, region.mark.path):
        return NO_CUDA_GRAPHS
    varying = [*_varying(region)]
    dynamic = (one for each in varying for one in left_out.of_dynamic_sizes(region, each.seen))
    apart = (*left_out.of_region(region), *dynamic)
    # What gets other memory is not changed where it is.
    told = {one.seen.effect.node for one in apart}
    changed = tuple(one for one in _changed(region) if one.effect.node not in told)
    # What runs without CUDA graphs has results of its own.
    runs = not changed and not any(one.skipped for one in apart)
    recorded = tuple(one for one in varying if one.seen.effect.node not in told)
    return CudaGraphs(changed, apart, recorded, tuple(kept_results.of_region(region)) if runs else ())


def _changed(region: Interpreted) -> Iterator[Observed]:
    """The changes of tensors in place for which torch runs the region without CUDA graphs, each place once."""
    told: set[AccessPath] = set()
    is_told = is_named(region.machine, _STATIC, region.mark.path)
    is_result = kept_results.results_passed(region)
    for seen in () if is_told else region.observed(Event.INPUT_WRITE, Event.TENSOR_WRITE):
        place, name = seen.effect.place, _name_of(region, seen.effect)
        is_own = place.root is Root.ARGUMENT and is_result(region.parameter_at(place))
        is_own = is_own or bool(seen.effect.value.flags & Flag.MAYBE)
        if place not in told and not is_own and cuda_graphs.is_skipped(name, region.backend):
            told.add(place)
            yield seen


def _varying(region: Interpreted) -> Iterator[Recorded]:
    """What varies without another compilation for each value, but with another CUDA graph."""
    for one in recompilations.symbols(region):
        kinds = {_VARIES.get(kind, "") for kind in one.kinds}
        each = all(kind and cuda_graphs.is_recorded_for_each(kind, region.backend) for kind in kinds)
        if kinds and each and one.values > _FEW:
            yield Recorded(one.seen, one.values, one.evidence)


def _name_of(region: Interpreted, effect: Effect) -> str:
    """What the table calls where a tensor lives; "" where that is not known."""
    place = effect.place
    if effect.value.kind is Kind.PARAMETER or _is_passed_parameter(region, place):
        return "parameter that is an argument"
    holders = [one or UNKNOWN for one in guard_sources.holders(region, place)] if place.path else []
    kinds = [{each.kind for each in one.alternatives()} for one in holders]
    if any(Kind.MODULE in one for one in kinds):
        return "attribute of the module" if Kind.MODULE in kinds[0] else "tensor of a module that an object holds"
    if any(Kind.UNKNOWN in one for one in kinds):  # that may be one
        return ""
    if place.root is Root.ARGUMENT:
        if not place.path:
            return "argument"
        is_entry = place.path[0] == ANY_ENTRY or place.path[0].startswith("[")
        return "entry of an argument" if is_entry else "attribute of an object"
    return {Root.GLOBAL: "global", Root.CELL: "variable of the enclosing function"}.get(place.root, "")


def _is_passed_parameter(region: Interpreted, place: AccessPath) -> bool:
    """Whether calls pass a parameter there, as far as they were seen."""
    if place.root is not Root.ARGUMENT:
        return False
    given = calls.given(region, region.parameter_at(place))
    passed = (at_path(frame.machine.evaluate(frame, one), place.path) for frame, _, one in given)
    return any(value is not None and value.kind is Kind.PARAMETER for value in passed)
