"""What surely runs before something else in one text, and what runs in between."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from nonstrict.facts import guards
from nonstrict.facts.memo import remembered
from nonstrict.facts.running_order import begin_of, end_of, order_of
from nonstrict.facts.walk import children, own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.running_order import Order
    from nonstrict.facts.texts import Root

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_LOOPS = (ast.For, ast.AsyncFor)
_WITH = (ast.With, ast.AsyncWith)
_LEAVING = (ast.Break, ast.Continue, ast.Return)

_Way = tuple[ast.AST, ...]


def between(root: ast.AST, first: ast.AST, middle: ast.AST, last: ast.AST) -> list[ast.AST] | None:
    """What runs between two nodes of a text of which one surely runs before a third, and the other surely behind it.

    None where they may not. Both may be one, in a loop around it and the third. That may stand under a condition, or
    be what is entered around the last one. A loop over something is taken to have rounds.
    """
    begin, inner, end = (_way(root, one) for one in (first, middle, last))
    if not begin or not inner or not end or any(isinstance(one, _DEFINITIONS) for one in inner[1:]):
        return None
    if not _surely_follows(begin, inner):
        return None
    if first is last:
        return _in_rounds(begin, inner)
    return _from_to(root, begin, end) if _leads_to(inner, end) else None


def surely_runs(function: Root, node: ast.AST) -> bool:
    """Whether a node of a function runs whenever that is called, as long as nothing raises.

    A loop over something, and a list that is made in rounds of one, are taken to have rounds.
    """
    order = order_of(function)
    way = [*order.way(node)]
    if not _is_sure([node, *way[:-1]][::-1]):
        return False
    leaving = (one for one in remembered(function, "_nonstrict_leaving", _leaving) if one not in way)
    return not any(end_of(one) <= begin_of(node) and _leaves(order, one, way) for one in leaving)


def _leaving(function: Root) -> tuple[ast.AST, ...]:
    return tuple(one for one in own_scope(function) if isinstance(one, _LEAVING))


def _leaves(order: Order, one: ast.AST, way: Sequence[ast.AST]) -> bool:
    """Whether what leaves a function, or a loop, leaves what is around something."""
    return isinstance(one, ast.Return) or any(loop in way for loop in order.loops(one)[:1])


def stands_behind(root: ast.AST, first: ast.AST, other: ast.AST) -> bool:
    """Whether a node stands behind another one in a text."""
    behind = itertools.dropwhile(lambda one: one is not first, in_order(root))
    return any(one is other for one in behind)


def entered(root: ast.AST, node: ast.AST, but: ast.AST) -> list[str]:
    """The context managers around a node of a text, as written, without one that is another node."""
    blocks = (one for one in _way(root, node) if isinstance(one, _WITH))
    items = (item.context_expr for block in blocks for item in block.items)
    return [ast.unparse(item) for item in items if item is not but]


def _way(root: ast.AST, node: ast.AST) -> _Way:
    return next(guards.ways(root, lambda one: one is node), ())


def _parting(one: _Way, other: _Way) -> int:
    """At which step two ways part; 0 if one leads through the other's end."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left is not right), 0)


def _surely_follows(begin: _Way, inner: _Way) -> bool:
    """Whether what one way leads to surely ran where the other leads."""
    at = _parting(begin, inner)
    return bool(at) and inner[at] in guards.behind(begin[at - 1], begin[at]) and _is_sure(begin[at:])


def _leads_to(inner: _Way, end: _Way) -> bool:
    """Whether what the second way leads to surely runs after what the first leads to, if that does."""
    at = _parting(inner, end)
    if not at or not _is_sure(end[at:]):
        return False
    blocks = [outer for outer, part in itertools.pairwise(inner) if isinstance(part, ast.withitem)]
    if blocks:
        return blocks == [inner[at - 1]] and end[at] not in getattr(blocks[0], "items", ())
    return end[at] in guards.behind(inner[at - 1], inner[at])


def _from_to(root: ast.AST, begin: _Way, end: _Way) -> list[ast.AST]:
    """What stands between the statement that holds the end of a way and the end of another, with that statement."""
    simple = next(one for one in reversed(begin) if isinstance(one, (ast.stmt, ast.Module)))
    start = begin[-1] if hasattr(simple, "body") else simple
    nodes = itertools.dropwhile(lambda one: one is not start, in_order(root))
    apart = {*walk(begin[-1])}
    return [one for one in itertools.takewhile(lambda one: one is not end[-1], nodes) if one not in apart]


def _in_rounds(begin: _Way, inner: _Way) -> list[ast.AST] | None:
    """What runs from one round to the next of the loop around two nodes, both of which run in each round."""
    at = next((at for at in reversed(range(_parting(begin, inner))) if isinstance(begin[at], (*_LOOPS, ast.While))), 0)
    loop = begin[at]
    if not isinstance(loop, _LOOPS):
        return None
    inside = [node for one in (loop.target, *loop.body) for node in walk(one)]
    if not all(_is_sure(way[at + 1 :]) for way in (begin, inner)) or any(isinstance(one, _LEAVING) for one in inside):
        return None
    apart = {*walk(begin[-1])}
    return [one for one in inside if one not in apart]


def in_order(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a text in its order."""
    yield root
    for child in children(root):
        yield from in_order(child)


def _is_sure(way: Sequence[ast.AST]) -> bool:
    """Whether the last of some nodes that lie in one another runs whenever the first one does."""
    return not any(_chooses(outer, inner) for outer, inner in itertools.pairwise(way))


def _chooses(outer: ast.AST, inner: ast.AST) -> bool:
    if isinstance(outer, (ast.If, ast.IfExp, ast.While)):
        return inner is not outer.test
    if isinstance(outer, ast.BoolOp):
        return inner is not outer.values[0]
    if isinstance(outer, _LOOPS):
        return inner in outer.orelse
    if isinstance(outer, _COMPREHENSIONS):
        return inner is not outer.generators[0] and _is_unsure(outer)
    if isinstance(outer, ast.comprehension):
        return inner in outer.ifs
    if isinstance(outer, ast.Assert):
        return inner is not outer.test
    return hasattr(outer, "handlers") or isinstance(outer, (*_DEFINITIONS, ast.match_case))


def _is_unsure(comprehension: _Comprehension) -> bool:
    """Whether what a comprehension does in its rounds may not be done: only in some of them, or later."""
    return isinstance(comprehension, ast.GeneratorExp) or any(one.ifs for one in comprehension.generators)
