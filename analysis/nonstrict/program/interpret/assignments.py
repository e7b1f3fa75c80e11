"""Assignments: binding names, storing at attributes and items, in-place operators, `del`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change
from nonstrict.facts.steps import member_of
from nonstrict.program.domain import refinements, symbols
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import (
    CONTAINERS,
    NO_CONSTANT,
    TENSORS,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    join,
)
from nonstrict.program.interpret import expressions
from nonstrict.program.objects import container_flow, iteration, known_tensors, namespaces, stores, symbolic_slices

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame


def store(frame: Frame, target: ast.expr, value: Value, source: ast.AST) -> None:
    """Assign a value to a target."""
    if isinstance(target, ast.Name):
        frame.hold(target, value)
        frame.assign(target.id, value, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(frame, target, value, source)
    elif isinstance(target, ast.Starred):
        store(frame, target.value, container(Kind.LIST, iteration.elements_of(frame, source, value)), source)
    elif isinstance(target, ast.Attribute):
        _store_attribute(frame, target, value)
    elif isinstance(target, ast.Subscript):
        _store_item(frame, target, value)


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value, source: ast.AST) -> None:
    for index, element in enumerate(target.elts):
        starred = next(
            (place for place, one in enumerate(target.elts) if isinstance(one, ast.Starred)), len(target.elts)
        )
        at = index if index < starred else None
        part = _at_position(frame, source, value, at)
        if part.taint and not frame.region and index < starred:
            count = len(target.elts) if starred == len(target.elts) else 0
            part = part.with_taint(symbols.entry(part, value, index, count))
        if value.kind is Kind.SIZE and index and not isinstance(element, ast.Starred):
            part = part._replace(taint=frozenset())  # of what selects, the first dimension alone follows from data
        if value.kind is Kind.SIZE:
            part = frame.observer.size_taken(frame, value, part, at)
        store(frame, element, part, source)


def _at_position(frame: Frame, source: ast.AST, value: Value, index: int | None) -> Value:
    """What a sequence holds at a position, whichever of several it is; any element of one that does not tell."""
    alternatives = value.alternatives()
    held = [_held_at(one, index) for one in alternatives]
    if not any(held):
        return iteration.elements_of(frame, source, value)
    found: Value | None = None
    for one, part in zip(alternatives, held, strict=True):
        found = join(found, part or iteration.elements_of(frame, source, one))
    return found or UNKNOWN


def _held_at(sequence: Value, index: int | None) -> Value | None:
    if sequence.kind not in (Kind.TUPLE, Kind.LIST) or sequence.heap is None:
        return None
    held = sequence.heap.items.get(index)
    if held is None or sequence.place.root is Root.FRESH:
        return held
    return held.at(sequence.place.step(f"[{index}]"))


def _store_attribute(frame: Frame, target: ast.Attribute, value: Value) -> None:
    if frame.refined and (key := refinements.key_of(target)):
        frame.env.pop(key, None)
        refinements.forget(frame.env, key)
    base = frame.machine.evaluate(frame, target.value)
    for alternative in base.alternatives():
        stores.set_attribute(frame, target, alternative, target.attr, value)


def _store_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    member = member_of(target)
    if member is not None:
        for alternative in frame.machine.evaluate(frame, member[0]).alternatives():
            stores.set_attribute(frame, target, alternative, member[1], value)
        return
    base = frame.machine.evaluate(frame, target.value)
    index = expressions.index(frame, target.slice, base)
    for alternative in base.alternatives():
        stores.set_item(frame, target, alternative, index, value)


def augment(frame: Frame, statement: ast.AugAssign) -> None:
    """`target op= value`: in place for tensors and lists, a rebinding for the rest."""
    target = statement.target
    before = _quietly(frame, target)
    value = expressions.use(frame, statement.value)
    if before.kind in TENSORS:
        frame.observer.computed(frame, statement, before.at(FRESH))
        frame.sink(value)
        if isinstance(target, ast.Subscript):
            index = expressions.index(frame, target.slice, before)
            frame.observer.part_augmented(frame, target, index)
            if not frame.region:
                symbolic_slices.stored(frame, target.slice, index)
        frame.written(statement, _holder(frame, target, before), "an in-place operator")
        if isinstance(target, ast.Name):
            known = Flag.NONE if frame.region else known_tensors.literals(before, value)
            frame.env[target.id] = before._replace(flags=before.flags & ~Flag.LITERAL | known)
        return
    if before.kind is Kind.NUMPY and frame.opaque:
        frame.written(statement, before, "an in-place operator")
        return
    merged = before.kind is Kind.DICT and isinstance(statement.op, ast.BitOr)
    array = before.kind is Kind.NUMPY and not isinstance(target, ast.Name)
    if (merged or array or before.kind in (Kind.LIST, Kind.SET, Kind.DEQUE)) and stores.outer(before.place):
        entries = container_flow.entries_in(frame, value) if merged else ()
        stores.write(frame, statement, before.place, value, Change.OPERATOR, entries=entries)
        return
    if frame.static and before.kind is Kind.LIST and before.heap is not None and before.place.root is Root.FRESH:
        _extend(before.heap, value, sure=not frame.branches)
        return
    if isinstance(target, ast.Name):
        in_env = frame.scope is None or target.id in frame.scope.local
        read = frame.consume(target, before).at(FRESH) if in_env else before
        result = expressions.operate(frame, statement, read, value, statement.op)
        frame.observer.computed(frame, statement, result)
        if not in_env and result.kind is Kind.UNKNOWN:
            result = before.at(FRESH)
        frame.hold(target, result)
        frame.assign(target.id, result, statement)
        return
    result = expressions.operate(frame, statement, before, value, statement.op)
    store(frame, target, result, statement)


def _extend(heap: AbstractObject, value: Value, *, sure: bool) -> None:
    """The elements of a value are added to a list."""
    unsure = heap.unsure or not sure or value.heap is None or value.heap.unsure
    for member in value.heap.members() if value.heap is not None else [UNKNOWN]:
        heap.store(NO_CONSTANT, member)
    heap.unsure = unsure


def _holder(frame: Frame, target: ast.expr, before: Value) -> Value:
    """The tensor that an in-place operator changes: `table[index] += x` puts a new selection back into the table."""
    if before.place.root is Root.FRESH and isinstance(target, ast.Subscript):
        base = _quietly(frame, target.value)
        return base if base.kind in TENSORS else before
    return before


def _quietly(frame: Frame, target: ast.expr) -> Value:
    """What an augmented target holds: that it is read is part of the write."""
    summary = frame.summary
    frame.summary = Summary(summary.function, held=summary.held)
    before = expressions.evaluate(frame, target)
    frame.summary = summary
    return before


def delete(frame: Frame, target: ast.expr) -> None:
    """`del target`."""
    if isinstance(target, ast.Name):
        if frame.scope is not None and target.id in frame.scope.local:
            frame.env.pop(target.id, None)
        else:
            frame.assign(target.id, UNKNOWN, target)
    elif isinstance(target, ast.Subscript):
        base = frame.machine.evaluate(frame, target.value)
        index = expressions.index(frame, target.slice, base)
        for alternative in base.alternatives():
            if (owner := namespaces.holder(alternative)) is not None:
                stores.delete_attribute(frame, target, owner, namespaces.named(index))
            if alternative.kind in CONTAINERS and stores.outer(alternative.place):
                entries = container_flow.entries_at(index) if alternative.kind is Kind.DICT else ()
                stores.write(frame, target, alternative.place, UNKNOWN, Change.DELETION, entries=entries)
            elif alternative.kind is Kind.DICT and alternative.heap is not None:
                alternative.heap.forget(index.const)
    elif isinstance(target, ast.Attribute):
        stores.delete_attribute(frame, target, frame.machine.evaluate(frame, target.value), target.attr)
