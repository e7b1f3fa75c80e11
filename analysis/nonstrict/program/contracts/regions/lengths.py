"""How many lengths the lists have that calls of a region pass one after the other: `pool[:n]`, `[x] * n`.

Of dictionaries it is how many sets of keys.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.program.contracts.regions import numbers
from nonstrict.program.domain.values import NO_CONSTANT, Kind
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.interpret.rounds import MANY, entries_in_loop, rounds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.values import Value
    from nonstrict.program.interpret.makers import Making
    from nonstrict.program.state.frames import Frame

#: Those that are seen, and how many others there are.
_Lengths = tuple[frozenset[int], int]
_Keys = tuple[frozenset[frozenset[object]], int]


def number(calls: Iterable[Passing]) -> int:
    """How many lengths, or sets of keys, what calls pass has, all together; 0 where one is not known."""
    known, more = frozenset[object](), dict[ast.AST, int]()
    for one in calls:
        told = _of_keys(one) if one.value.kind is Kind.DICT else _of_call(one)
        if told is None:
            return 0
        known, more[one.node] = known | told[0], told[1]
    return len(known) + sum(more.values())


def _of_call(one: Passing) -> _Lengths | None:
    """The lengths of what a call passes."""
    told = _of_expression(one.frame, one.node, one.expression) if one.expression is not None else None
    length = _of_value(one.value) if told is None else None
    return told if length is None else (frozenset({length}), 0)


def _of_keys(one: Passing) -> _Keys | None:
    """The sets of keys of a dictionary that a call passes."""
    made = source(naming.text_of(one.frame), one.expression) if one.expression is not None else None
    if isinstance(made, ast.Dict):
        return _of_dict(one.frame, one.node, made)
    if one.expression is not None and (counted := _of_comprehension(one, made_by(one.frame, one.expression))):
        return counted
    known = one.value.heap is not None and _of_value(one.value) is not None
    return (frozenset({frozenset(one.value.heap.items)}), 0) if known and one.value.heap is not None else None


def _of_comprehension(one: Passing, making: Making) -> _Keys | None:
    """How many sets of keys a comprehension makes of the first so many entries of a list."""
    made = making.expression.generators if isinstance(making.expression, ast.DictComp) else []
    over = made[0].iter if len(made) == 1 and not made[0].ifs else None
    cut = over.slice if isinstance(over, ast.Subscript) else None
    if not isinstance(over, ast.Subscript) or not isinstance(cut, ast.Slice) or cut.lower or cut.step or not cut.upper:
        return None
    upper, held = making.told(cut.upper), _of_value(making.frame.machine.evaluate(making.frame, over.value))
    lengths = _told(one.frame, one.node, upper) if upper is not None else None
    if lengths is None:
        return None
    known, more = frozenset(min(length, MANY if held is None else held) for length in lengths[0]), lengths[1]
    return frozenset(frozenset[object](range(length)) for length in known), more if held is None else min(more, held)


def _of_expression(frame: Frame, call: ast.AST, expression: ast.expr) -> _Lengths | None:
    """The lengths that an expression has in the rounds of loops, those that are seen, and how many others."""
    made = source(naming.text_of(frame), expression)
    if isinstance(made, ast.Subscript) and isinstance(made.slice, ast.Slice):
        return _of_slice(frame, call, made.value, made.slice)
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Mult) and isinstance(made.left, (ast.List, ast.Tuple)):
        return _told(frame, call, made.right) if len(made.left.elts) == 1 else None
    if isinstance(made, ast.ListComp):
        return _told(frame, call, bound) if (bound := _bound(frame, made)) is not None else None
    return None


def _of_slice(frame: Frame, call: ast.AST, base: ast.expr, part: ast.Slice) -> _Lengths | None:
    """The lengths of what is taken from the front of a list that is long enough."""
    found = _told(frame, call, part.upper) if part.upper and not (part.lower or part.step) else None
    inner = _of_expression(frame, call, base)
    held = _of_value(frame.machine.evaluate(frame, base)) if inner is None else next(iter(inner[0]), None)
    if found is None or held is None or (inner is not None and (len(inner[0]) != 1 or inner[1])):
        return None
    return frozenset(min(one, held) for one in found[0] if one >= 0), min(found[1], held + 1)


def _told(frame: Frame, call: ast.AST, bound: ast.expr) -> _Lengths | None:
    lengths = numbers.given(frame, call, bound)
    return lengths if any(lengths) else None


def _bound(frame: Frame, made: ast.ListComp) -> ast.expr | None:
    """The number of elements of a comprehension, where it counts them: `[f(i) for i in range(n)]`."""
    only = made.generators[0] if len(made.generators) == 1 and not made.generators[0].ifs else None
    counted = only.iter if only is not None and isinstance(only.iter, ast.Call) else None
    if counted is None or naming.names_at(frame)(counted.func) != "builtins.range" or len(counted.args) != 1:
        return None
    return counted.args[0]


def _of_dict(frame: Frame, call: ast.AST, made: ast.Dict) -> _Keys | None:
    """The sets of keys of a dictionary that is written out, where one key is another one in several calls."""
    found, others = [frozenset[object]()], 0
    for key in made.keys:
        if key is None:
            return None
        told, more = frame.machine.evaluate(frame, key), rounds(frame, call, key, MANY)
        several = entries_in_loop(frame, call, key) or (told.alternatives() if more else (told,))
        entries = [one.const for one in several]
        if NO_CONSTANT not in entries:
            found = [frozenset({*keys, entry}) for keys in found for entry in entries]
        elif more:
            others += more
        else:
            return None
    return frozenset(found if not others else ()), others


def _of_value(value: Value) -> int | None:
    """How many entries a container has, where that is known."""
    heap = value.heap
    known = heap is not None and heap.loose is None and not heap.open and not heap.unsure
    return len(heap.items) if heap is not None and known else None
