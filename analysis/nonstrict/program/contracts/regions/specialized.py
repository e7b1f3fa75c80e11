"""Sizes that a caller of a region marks as dynamic, and that the region only has a graph for as constants.

Measured on 2.13: torch raises `ConstraintViolationError` as it compiles the region, whatever `dynamic=` says; not for
tensors of size 0 or 1 along the dimension, which it compiles for by themselves, and not for `maybe_mark_dynamic`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Decision, Event, Use
from nonstrict.program.contracts.boundary import dynamic_sizes, varying
from nonstrict.program.contracts.regions import calls, options, shapes, sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Related
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.sizes import Size
    from nonstrict.program.domain.effects import Effect, Observed

#: Uses of a number for which Dynamo makes a constant of it; a text made by a call or `%` breaks the graph instead.
_FIXING = frozenset({Use.BOUND, Use.KEY, Use.POSITION})
_TEXTS = (ast.Call, ast.BinOp)
#: Options with which nothing is raised.
_LETTING = ("suppress_errors", "allow_ignore_mark_dynamic")
#: For these sizes torch compiles by themselves.
_APART = frozenset({0, 1})


class _Marked(NamedTuple):
    """A call of `mark_dynamic`, the dimensions that it is about, and the sizes of the tensor as far as known."""

    mark: Related
    dimensions: frozenset[int]
    sizes: tuple[int | None, ...] | None


def against(region: Interpreted, seen: Observed) -> tuple[Related, ...]:
    """The calls of `mark_dynamic` that a use of a size in every call of a region contradicts."""
    effect, size = seen.effect, sizes.at(seen.effect.place)
    if size is None or effect.conditional or any(edge.conditional for edge in seen.chain):
        return ()
    if not fixes(region, effect) or any(options.is_set(region.machine, one, region.mark.path) for one in _LETTING):
        return ()
    marked = _marked(region, region.parameter_at(effect.place)) if not size.tensor.path else ()
    return tuple(dict.fromkeys(one.mark for one in marked if _is_contradicted(effect, size, one)))


def fixes(region: Interpreted, effect: Effect) -> bool:
    """Whether a use makes a constant of a size, where that is a certain one (`Event.SHAPE`) or whatever it is."""
    if effect.sight.lost:
        return False
    if effect.event is Event.SHAPE:
        return True
    if effect.how not in _FIXING and not (effect.how is Use.FORMAT and not isinstance(effect.node, _TEXTS)):
        return False
    together = (one.effect for one in region.observed(Event.GUARD) if one.effect.node is effect.node)
    # What is computed of several sizes, as a difference, may be the same for all.
    return len({one.place for one in together if one.how is effect.how}) <= _numbers_of(effect.node)


def _numbers_of(node: ast.AST) -> int:
    """How many numbers there are, of which each says something: in `x[n - 1, m - 1]` two."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    parts = index.elts if isinstance(index, ast.Tuple) else []
    return sum(not isinstance(one, (ast.Constant, ast.Slice)) for one in parts) or 1


def _marked(region: Interpreted, name: str) -> Iterator[_Marked]:
    function = region.mark.function
    direct = varying.given_expressions(region.machine, function, name) if function is not None else ()
    for frame, node, passed in dict.fromkeys((*direct, *calls.given(region, name))):
        for mark, dimensions in dynamic_sizes.marks(frame, node, passed):
            yield _Marked(mark, dimensions, shapes.shape(frame, passed))


def _is_contradicted(effect: Effect, size: Size, marked: _Marked) -> bool:
    rank = len(marked.sizes) if marked.sizes is not None else 0
    if size.dimension is None:
        return effect.how is Use.KEY and sizes.is_whole(effect.place) and bool(marked.dimensions)
    dimension = size.dimension + rank if size.dimension < 0 and rank else size.dimension
    known = marked.sizes[dimension] if marked.sizes is not None and dimension < rank else None
    if dimension not in marked.dimensions or known in _APART:
        return False
    if effect.event is not Event.SHAPE:
        return True
    number = effect.value.const
    return type(number) is int and (number == known or (known is None and effect.how is Decision.CHECK))
