"""Which numbers keep in a region the value that they had once, while those that calls pass go on.

Measured on torch 2.13. From its second value on a `float` is an input of Dynamo's graph. If AOTAutograd puts a tensor
in its place for one operator and a constant for another, it guards the constant; but Inductor keeps the result in a
cache whose key is the graph of Dynamo, and that guard is no part of the entry: the third value is given the graph of
the second, and so are all that follow, in later runs of the program too. Without an operator that takes a tensor Dynamo
starts again with the constant in its own graph, and without the cache (`backend="aot_eager"`) the guard holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Lowered, Use
from nonstrict.program.contracts.regions import options, variation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Related
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed

#: Uses for which Dynamo takes a number for a constant itself: it then compiles for each. Of others that is not known.
_KNOWN = frozenset(Use) - {
    Use.ARITHMETIC,
    Use.NUMBERS,
    Use.PARAMETER,
    Use.FUNCTION,
    Use.BRANCH,
    Use.WHOLE_PART,
}


class StaleValue(NamedTuple):
    """A `float` that an operator takes for a constant (`seen`), while another computes with it (`computed`).

    `kept` says which value stays: the first that is an input of the graph, which with `dynamic=True` is the first.
    """

    seen: Observed
    computed: Observed
    kept: int
    evidence: tuple[Related, ...]

    @property
    def place(self) -> AccessPath:
        """Where the region has the number from."""
        return self.seen.effect.place


def of_region(region: Interpreted) -> Iterator[StaleValue]:
    """The stale values of a region that is one graph of Inductor's, at each operator that takes one for a constant."""
    if region.dynamic is False or options.is_set(region.machine, "specialize_float", region.mark.path):
        return  # numbers are constants from the start
    known = {seen.effect.place for seen in region.observed(Event.GUARD) if seen.effect.how in _KNOWN}
    uses: dict[AccessPath, list[Observed]] = {}
    for seen in region.observed(Event.FLOAT):
        uses.setdefault(seen.effect.place, []).append(seen)
    for place, seen in uses.items():
        if place not in known:
            yield from _of_place(region, seen)


def _of_place(region: Interpreted, uses: list[Observed]) -> Iterator[StaleValue]:
    by_how = {how: [seen for seen in uses if seen.effect.how is how] for how in Lowered}
    constants, tensors = by_how[Lowered.SPECIALIZED], by_how[Lowered.TENSORIFIED]
    if not constants or not tensors or by_how[Lowered.KNOWN]:
        return
    varied = variation.of(region, constants[0].effect)
    kept = 1 if region.dynamic else 2
    if varied.kinds != frozenset({"float"}) or varied.number <= kept:
        return
    beside = next(filter(_is_sure, tensors), None)
    if beside is not None:
        yield from (StaleValue(seen, beside, kept, varied.evidence) for seen in filter(_is_sure, constants))


def _is_sure(seen: Observed) -> bool:
    """Whether no condition decides it: what two conditions decide may not come together."""
    return not seen.effect.conditional and not any(edge.conditional for edge in seen.chain)
