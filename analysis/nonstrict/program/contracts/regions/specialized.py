"""Sizes that a caller of a region marks as dynamic, and that the region only has a graph for as constants.

Measured on 2.13: torch raises `ConstraintViolationError` as it compiles the region, whatever `dynamic=` says; not for
tensors of size 0 or 1 along the dimension, which it compiles for by themselves, and not for `maybe_mark_dynamic`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Decision, Event, Use
from nonstrict.facts.key_sizes import sized
from nonstrict.facts.library_calls import called
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.boundary import dynamic_sizes, varying
from nonstrict.program.contracts.regions import calls, options, shapes, sizes
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import RANGE, TENSORS, UNKNOWN, Kind
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.findings import Related
    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.sizes import Size
    from nonstrict.program.domain.effects import Effect, Observed, Reached

#: Uses of a number for which Dynamo makes a constant of it; a text made by a call or `%` breaks the graph instead.
_FIXING = frozenset({Use.BOUND, Use.KEY, Use.POSITION})
_TEXTS = (ast.Call, ast.BinOp)
#: Uses that leave a size what it is: any may follow. Two branches may say together which it is.
_LEAVING = frozenset({Use.ARITHMETIC, Use.NUMBERS, Use.RETURNED, Use.FUNCTION, Use.WHOLE_PART, Use.SIZE, Use.INDEX})
_MAY_BE_TENSOR = TENSORS | {Kind.UNKNOWN, Kind.UNION}
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
    if not _fixes(region, effect) or any(options.is_set(region.machine, one, region.mark.path) for one in _LETTING):
        return ()
    marked = _marked(region, region.parameter_at(effect.place)) if not size.tensor.path else ()
    return tuple(dict.fromkeys(one.mark for one in marked if _is_contradicted(effect, size, one)))


def _fixes(region: Interpreted, effect: Effect) -> bool:
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


def may_fix(region: Interpreted, name: str, dimensions: Collection[int]) -> bool:
    """Whether a region may make a constant of a size of an argument, as far as it and what it calls tell."""
    fixing = (
        seen.effect.place
        for seen in region.observed(Event.SHAPE, Event.GUARD)
        if seen.effect.event is Event.SHAPE or seen.effect.how not in _LEAVING
    )
    of_argument = (sizes.at(place) for place in fixing if region.parameter_at(place) == name)
    found = (one for one in of_argument if one is not None)
    if any(one.tensor.path or one.dimension is None or one.dimension in dimensions for one in found):
        return True
    return any(_may_fix_computed(region, one) for one in reachable(region.summary))


def _may_fix_computed(region: Interpreted, reached: Reached) -> bool:
    """Whether a function gives a tensor a shape with a number in it, which may be its size, or asks for a size.

    Those of its arguments a region asks for itself are known; what it calls is interpreted for all tensors alike.
    """
    function = reached.summary.definition if reached.chain else region.mark.function
    if function is None:
        return True
    names = naming.names_in(region.machine, function)
    nodes = list(walk(function.node))
    if any(_gives_number(called(names, node).operator, node) for node in nodes if isinstance(node, ast.Call)):
        return True
    return any(_asks_for_size(reached, node) for node in nodes)


def _gives_number(operator: Operator | None, node: ast.Call) -> bool:
    """Whether an operator wants to know a size (`one_hot`), or is told a number beside which a size may be one."""
    if operator is None:
        return False
    cuts = operator.views and not operator.permutes
    return operator.specializes or operator.dynamic_shape or (cuts and any(map(_holds_number, node.args)))


def _holds_number(argument: ast.expr) -> bool:
    return any(isinstance(one, ast.Constant) and one.value not in (0, 1, -1) for one in walk(argument))


def _asks_for_size(reached: Reached, node: ast.AST) -> bool:
    if isinstance(node, (ast.For, ast.comprehension)):
        asked: ast.expr | None = node.iter
    elif isinstance(node, ast.Starred):
        asked = node.value
    else:
        size = sized(node)
        asked = size.tensor if size is not None else None
    if asked is None:
        return False
    held = reached.summary.held.get(asked, UNKNOWN)
    if held.is_tensor and held.place.root is Root.ARGUMENT and not held.place.is_view and not reached.chain:
        return False
    return held.kind in _MAY_BE_TENSOR or (held.ref == RANGE and bool(reached.chain))


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
