"""What `sorted`, `map` and `itertools` make of what is known one by one: other rows of the same entries, in order."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import UNKNOWN, Kind, Value, container, holding
from nonstrict.program.objects import iteration

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.program.state.frames import Frame

    Handler = Callable[[Frame, ast.AST, list[Value], dict[str, Value]], Value]
    _Rows = Callable[..., Iterable[Sequence[Value]]]


def in_order(frame: Frame, iterable: Value, keywords: dict[str, Value]) -> list[Value] | None:
    """The entries as `sorted` puts them, which are constants that are compared by themselves; None for any others."""
    found = iteration.known(frame, iterable) if not keywords else None
    if not found or len({type(one.const).__name__ for one in found}) != 1 or not isinstance(found[0].const, (int, str)):
        return None
    return sorted(found, key=lambda one: one.const)


def mapped(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`map(function, entries)`: outside of traced code, the function is called for each entry that is known."""
    if not positional:
        return UNKNOWN
    function, *iterables = positional
    found = iteration.known(frame, iterables[0]) if len(iterables) == 1 and frame.static else None
    if found:
        made = [frame.machine.call(frame, node, function, [one], {}) for one in found]
        return iteration.listed(Kind.ITERATOR, made, iteration.joined(made))
    elements = [iteration.elements_of(frame, node, frame.consume(node, one)) for one in iterables]
    return holding(Kind.ITERATOR, frame.machine.call(frame, node, function, elements, {}))


def rows_of(make: _Rows, *, counted: bool = False) -> Handler:
    """A function of `itertools` that makes tuples of entries of what it is given; `counted` by a number behind that."""

    def handler(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
        sources, numbers = (positional[:1], positional[1:]) if counted else (positional, [])
        elements = [iteration.elements_of(frame, node, frame.consume(node, one)) for one in sources]
        counts = [number.const for number in numbers]
        columns = [iteration.known(frame, one) for one in sources] if not keywords else [None]
        known = [column for column in columns if column is not None]
        plain = len(known) == len(columns) and all(type(count) is int and count >= 0 for count in counts)
        rows = list(itertools.islice(make(*known, *counts), iteration.MAX_ENTRIES + 1)) if plain and known else []
        few = rows if len(rows) <= iteration.MAX_ENTRIES else []
        element = holding(Kind.TUPLE, iteration.joined(elements)) if counted else container(Kind.TUPLE, *elements)
        return iteration.listed(Kind.ITERATOR, [container(Kind.TUPLE, *row) for row in few], element)

    return handler


def chained(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`itertools.chain(a, b)`."""
    element = iteration.joined(iteration.elements_of(frame, node, frame.consume(node, one)) for one in positional)
    parts = [iteration.known(frame, one) for one in positional]
    whole = [one for part in parts for one in part or ()] if None not in parts else []
    return iteration.listed(Kind.ITERATOR, whole, element)


def sliced(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`itertools.islice(entries, stop)`."""
    element = iteration.joined(iteration.elements_of(frame, node, frame.consume(node, one)) for one in positional[:1])
    bounds = [one.const for one in positional[1:]]
    found = iteration.known(frame, positional[0]) if positional else None
    plain = bounds and all(one is None or (type(one) is int and one >= 0) for one in bounds)
    part = list(itertools.islice(found, *bounds)) if found and plain and bounds[2:] != [0] else []
    return iteration.listed(Kind.ITERATOR, part, element)
