"""Sizes and whole numbers of tensor arguments that vary between the calls of a region: symbolic integers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.shapes import shape
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary import boundary_values, dynamic_sizes, varying
from nonstrict.program.domain import symbols
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Flag
from nonstrict.program.interpret.rounds import varies_in_loop
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value


class Sizes(NamedTuple):
    """The dimensions of a tensor that vary, counted from both ends; `everything` where all of them may."""

    dimensions: frozenset[int] = frozenset()
    everything: bool = False
    evidence: tuple[Related, ...] = ()


def varying_sizes(body: Interpreted, argument: BoundaryArgument) -> Sizes:
    """Which sizes of an argument of a marked function torch makes symbolic, as far as the calls of the region tell."""
    site = argument.site
    caller = site.call.caller if site is not None and site.call is not None else None
    if site is None or caller is None:
        return Sizes()
    marked = [(mark, dims) for mark, name, dims in dynamic_sizes.marked(body) if name == argument.name]
    dimensions = frozenset[int]().union(*(dims for _, dims in marked))
    evidence = tuple(mark for mark, _ in marked)
    if varying.compiled_with(body.machine, caller, "dynamic", value=True):
        return Sizes(dimensions, everything=True, evidence=evidence)
    source = boundary_values.handed_on(site, argument.span)
    if source:
        differing = _differing(body, caller, source)
        if not varying.compiled_with(body.machine, caller, "dynamic", value=False):
            dimensions |= differing.dimensions
            evidence += differing.evidence
        dimensions = _from_both_ends(dimensions, differing.rank)
    return Sizes(dimensions, evidence=tuple(dict.fromkeys(evidence))[:1])


class _Differing(NamedTuple):
    """Dimensions that differ between calls, where that is seen, and how many there are: 0 where that is not known."""

    dimensions: frozenset[int]
    evidence: tuple[Related, ...]
    rank: int


def _from_both_ends(dimensions: frozenset[int], rank: int) -> frozenset[int]:
    """Dimensions of a tensor with `rank` of them, each under both of its numbers."""
    if not rank:
        return dimensions
    return frozenset(number for one in dimensions for number in (one % rank, one % rank - rank))


def _differing(body: Interpreted, region: Function, name: str) -> _Differing:
    """The dimensions that differ between calls, or from round to round of a loop around a call."""
    shapes: list[tuple[ast.expr, ...]] = []
    found: set[int] = set()
    evidence: list[Related] = []
    for frame, node, expression in varying.given_expressions(body.machine, region, name):
        around = naming.text_of(frame)
        sizes = shape(naming.names_at(frame), around, expression)
        if not sizes or (shapes and len(sizes) != len(shapes[0])):
            continue
        shapes.append(sizes)
        evidence.append(Related(span_of(frame.module.path, frame.offset, node), "called with several sizes here"))
        found |= {index for index, size in enumerate(sizes) if varies_in_loop(around, node, size)}
    for index, given in enumerate(zip(*shapes, strict=True)):
        numbers = {size.value for size in given if isinstance(size, ast.Constant)}
        if len(numbers) > 1:
            found.add(index)
    rank = len(shapes[0]) if shapes else 0
    return _Differing(frozenset(found), tuple(evidence) if found else (), rank)


def knows_number(body: Interpreted, taken: Callable[[], Sequence[BoundaryArgument]], seen: Observed) -> bool:
    """Whether a number that is taken out of an argument is one that torch knows, and no Python value is asked for.

    Of a tensor that is one whole number, torch makes a symbolic integer. It is told by the calls of the region.
    """
    if seen.decides or not symbols.is_input(seen.effect):
        return False
    given = list(_given(body, taken, seen.effect.place.name))
    return bool(given) and all(_is_whole_number(value) for value in given)


def _given(body: Interpreted, taken: Callable[[], Sequence[BoundaryArgument]], name: str) -> Iterator[Value]:
    """What the calls of the regions pass for a parameter of a marked function that the regions hand on."""
    for argument in taken():
        site = argument.site
        caller = site.call.caller if site is not None and site.call is not None else None
        source = boundary_values.handed_on(site, argument.span) if site is not None and argument.name == name else ""
        if source and caller is not None:
            for frame, _, expression in varying.given_expressions(body.machine, caller, source):
                yield body.machine.evaluate(frame, expression)


def _is_whole_number(value: Value) -> bool:
    """Whether a value is `torch.tensor(3)`."""
    kinds = Flag.FLOATING | Flag.BOOLEAN
    return value.is_tensor and bool(value.flags & Flag.LITERAL) and not value.flags & kinds
