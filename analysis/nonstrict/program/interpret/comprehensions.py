"""Comprehensions: what they make, entry by entry where what they run over is known one by one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.walk import walk
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import AbstractObject, Kind, Value
from nonstrict.program.interpret import conditions
from nonstrict.program.objects import iteration

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

    _Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

#: A key, if a dict is made, an entry, and what comes with it.
_Row: TypeAlias = "tuple[object, Value, frozenset[object]]"
#: More loops in one comprehension are looked at as one.
_MAX_LOOPS = 2
_NO_TAINT: frozenset[object] = frozenset()


def made(frame: Frame, node: _Comprehension) -> Value:
    """The value of a comprehension."""
    saved = dict(frame.env)
    scope = frame.scope
    if scope is not None:
        targets = {name.id for gen in node.generators for name in walk(gen.target) if isinstance(name, ast.Name)}
        frame.scope = scope._replace(local=scope.local | targets)
    iterable = _used(frame, node.generators[0].iter)
    values = _one_by_one(frame, node, iterable)
    each = values if _depends(node) and iteration.differ(values) else []
    heap, rows, sure = AbstractObject(), list[_Row](), bool(each)
    for value in each or [iteration.elements_of(frame, node.generators[0].iter, iterable)]:
        frame.env = dict(saved)
        found, known = _rows(frame, node, value)
        rows += found
        sure = sure and known
    entries, taint = [entry for _, entry, _ in rows], iterable.taint.union(*(drawn for _, _, drawn in rows))
    for key, entry, _ in rows if sure else ():
        heap.store(len(heap.items) if key is None else key, entry)
    if not each and not isinstance(node, ast.DictComp):
        heap.items = dict(enumerate(entries * len(values))) if len(node.generators) == 1 else {}
    element = iteration.joined(entries)
    element = element if frame.region else symbols.each(element, node)
    heap.element = element
    frame.scope = scope
    frame.env = saved
    whole = Value(_COMPREHENSIONS[type(node)], FRESH, heap=heap, taint=taint | element.taint)
    return whole if frame.region else whole.with_taint(symbols.of_entries(whole, element))


def _one_by_one(frame: Frame, node: _Comprehension, iterable: Value) -> list[Value]:
    """What the variables of a comprehension stand for one after the other; nothing if that is not known."""
    chosen = any(generator.ifs for generator in node.generators)
    few = len(node.generators) == 1 or (frame.static and len(node.generators) <= _MAX_LOOPS)
    return (iteration.known(frame, iterable) if few and not chosen else None) or []


def _depends(node: _Comprehension) -> bool:
    """Whether what a comprehension makes mentions its variables."""
    names = {name.id for one in node.generators for name in walk(one.target) if isinstance(name, ast.Name)}
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return any(isinstance(inner, ast.Name) and inner.id in names for part in parts for inner in walk(part))


def _rows(frame: Frame, node: _Comprehension, element: Value, position: int = 0) -> tuple[list[_Row], bool]:
    """What a comprehension makes of an entry of one of its loops, and whether all that inner loops make is known."""
    generator = node.generators[position]
    frame.machine.store(frame, generator.target, element, generator.iter)
    for condition in generator.ifs:
        conditions.decide(frame, condition)
        frame.env = conditions.narrowed(frame, condition, frame.env, truth=True)
    if position + 1 == len(node.generators):
        return [_row(frame, node)], True
    inner = node.generators[position + 1].iter
    iterable = _used(frame, inner)
    values = iteration.known(frame, iterable) if frame.static and len(node.generators) <= _MAX_LOOPS else None
    rows, sure, around = list[_Row](), values is not None, dict(frame.env)
    for value in values or [iteration.elements_of(frame, inner, iterable)]:
        frame.env = dict(around)
        found, known = _rows(frame, node, value, position + 1)
        rows += [(key, entry, drawn | iterable.taint) for key, entry, drawn in found]
        sure = sure and known
    return rows, sure


def _row(frame: Frame, node: _Comprehension) -> _Row:
    if isinstance(node, ast.DictComp):
        return _used(frame, node.key).const, _used(frame, node.value), _NO_TAINT
    return None, _used(frame, node.elt), _NO_TAINT


def _used(frame: Frame, node: ast.expr) -> Value:
    return frame.consume(node, frame.machine.evaluate(frame, node))


_COMPREHENSIONS: dict[type[ast.expr], Kind] = {
    ast.ListComp: Kind.LIST,
    ast.SetComp: Kind.SET,
    ast.GeneratorExp: Kind.ITERATOR,
    ast.DictComp: Kind.DICT,
}
