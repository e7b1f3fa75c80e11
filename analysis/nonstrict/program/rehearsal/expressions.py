"""Expressions: what each gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from nonstrict.program.rehearsal import layers, shaping
from nonstrict.program.rehearsal.operations import binary, compared, truth, unary
from nonstrict.program.rehearsal.stage import RaisedError
from nonstrict.program.rehearsal.statements import bind, put
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Definition,
    External,
    Instance,
    Scope,
    Tensor,
    is_known,
    plain_dict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: A longer format may tell a width that no text should have.
_LONGEST_FORMAT = 6
_INDEXED = (list, tuple, str, bytes, range)
_NOWHERE_KNOWN = ("__file__", "__doc__", "__spec__")


def evaluate(stage: Stage, node: ast.expr, scope: Scope) -> Thing:
    """What an expression gives. Raises RaisedError and GivenUpError."""
    stage.spend()
    handler = _HANDLERS.get(type(node))
    return handler(stage, node, scope) if handler is not None else UNKNOWN


def _name(stage: Stage, node: ast.Name, scope: Scope) -> Thing:
    holder = scope.holder(node.id)
    if holder is not None:
        return holder.names[node.id]
    return External(f"builtins.{node.id}") if node.id not in _NOWHERE_KNOWN else UNKNOWN


def _constant(stage: Stage, node: ast.Constant, scope: Scope) -> Thing:
    return node.value


def _attribute(stage: Stage, node: ast.Attribute, scope: Scope) -> Thing:
    return stage.member(stage.evaluate(node.value, scope), node.attr)


def _call(stage: Stage, node: ast.Call, scope: Scope) -> Thing:
    callee = stage.evaluate(node.func, scope)
    positional: list[Thing] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            several = stage.iterate(stage.evaluate(argument.value, scope))
            positional += list(several) if several is not None else [UNKNOWN]
        else:
            positional.append(stage.evaluate(argument, scope))
    named: dict[str, Thing] = {}
    for keyword in node.keywords:
        thing = stage.evaluate(keyword.value, scope)
        if keyword.arg is not None:
            named[keyword.arg] = thing
        elif (table := plain_dict(thing)) is not None:
            named |= {str(key): value for key, value in table.items()}
    return stage.call(callee, positional, named, node, scope)


def _binary(stage: Stage, node: ast.BinOp, scope: Scope) -> Thing:
    left, right = stage.evaluate(node.left, scope), stage.evaluate(node.right, scope)
    return binary(stage, node.op, left, right)


def _unary(stage: Stage, node: ast.UnaryOp, scope: Scope) -> Thing:
    return unary(stage, node.op, stage.evaluate(node.operand, scope))


def _boolean(stage: Stage, node: ast.BoolOp, scope: Scope) -> Thing:
    decides, unknown, thing = isinstance(node.op, ast.Or), False, UNKNOWN
    for value in node.values:
        thing = stage.evaluate(value, scope)
        answer = truth(stage, thing)
        if answer is decides and not unknown:
            return thing
        unknown = unknown or answer is None
        if answer is decides:
            return decides
    return UNKNOWN if unknown else thing


def _compare(stage: Stage, node: ast.Compare, scope: Scope) -> Thing:
    left = stage.evaluate(node.left, scope)
    answer: Thing = True
    for sign, comparator in zip(node.ops, node.comparators, strict=True):
        right = stage.evaluate(comparator, scope)
        answer = compared(stage, sign, left, right)
        if truth(stage, answer) is not True:
            return answer
        left = right
    return answer


def _conditional(stage: Stage, node: ast.IfExp, scope: Scope) -> Thing:
    decided = truth(stage, stage.evaluate(node.test, scope))
    return UNKNOWN if decided is None else stage.evaluate(node.body if decided else node.orelse, scope)


def _list(stage: Stage, node: ast.List, scope: Scope) -> Thing:
    return list(_elements(stage, node.elts, scope))


def _tuple(stage: Stage, node: ast.Tuple, scope: Scope) -> Thing:
    return tuple(_elements(stage, node.elts, scope))


def _set(stage: Stage, node: ast.Set, scope: Scope) -> Thing:
    return _hashed(_elements(stage, node.elts, scope))


def _elements(stage: Stage, nodes: Sequence[ast.expr], scope: Scope) -> Iterator[Thing]:
    for node in nodes:
        if isinstance(node, ast.Starred):
            yield from stage.iterate(stage.evaluate(node.value, scope)) or ()
        else:
            yield stage.evaluate(node, scope)


def _hashed(things: Iterator[Thing]) -> Thing:
    try:
        return set(things)
    except TypeError:
        raise RaisedError("TypeError") from None


def _dict(stage: Stage, node: ast.Dict, scope: Scope) -> Thing:
    found: dict[Thing, Thing] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        thing = stage.evaluate(value, scope)
        if key is None:
            found |= plain_dict(thing) or {}
        else:
            put(found, stage.evaluate(key, scope), thing)
    return found


def _text(stage: Stage, node: ast.JoinedStr, scope: Scope) -> Thing:
    parts = [stage.evaluate(one, scope) for one in node.values]
    return "".join(map(str, parts)) if all(isinstance(one, str) for one in parts) else UNKNOWN


def _formatted(stage: Stage, node: ast.FormattedValue, scope: Scope) -> Thing:
    thing = stage.evaluate(node.value, scope)
    told = stage.evaluate(node.format_spec, scope) if node.format_spec is not None else ""
    is_wide = isinstance(told, str) and len(told) > _LONGEST_FORMAT
    if not is_known(thing) or not isinstance(told, str) or is_wide or node.conversion == ord("r"):
        return UNKNOWN
    try:
        return format(thing, told)
    except (OverflowError, TypeError, ValueError):
        return UNKNOWN


def _lambda(stage: Stage, node: ast.Lambda, scope: Scope) -> Thing:
    return stage.define(node, scope)


def _named(stage: Stage, node: ast.NamedExpr, scope: Scope) -> Thing:
    thing = stage.evaluate(node.value, scope)
    bind(stage, node.target, thing, scope)
    return thing


def _slice(stage: Stage, node: ast.Slice, scope: Scope) -> Thing:
    bounds = [stage.evaluate(one, scope) if one is not None else None for one in (node.lower, node.upper, node.step)]
    return UNKNOWN if UNKNOWN in bounds else slice(*bounds)


def _subscript(stage: Stage, node: ast.Subscript, scope: Scope) -> Thing:
    return entry(stage, stage.evaluate(node.value, scope), stage.evaluate(node.slice, scope))


def entry(stage: Stage, holder: Thing, key: Thing) -> Thing:
    """What a subscript gives. Raises RaisedError where Python raises."""
    if isinstance(holder, Tensor):
        try:
            return shaping.part(stage, holder, key)
        except (TypeError, ValueError) as error:
            raise RaisedError(type(error).__name__) from None
    if isinstance(holder, Instance):
        return _of_object(stage, holder, key)
    if issubclass(type(holder), _INDEXED) and issubclass(type(key), (int, slice)):
        try:
            return cast("Sequence[Thing]", holder)[cast("int", key)]
        except (IndexError, TypeError, ValueError) as error:
            raise RaisedError(type(error).__name__) from None
    table = plain_dict(holder)
    if table is not None and key is not UNKNOWN:
        try:
            return table[key]
        except (KeyError, TypeError) as error:
            raise RaisedError(type(error).__name__) from None
    return UNKNOWN


def _of_object(stage: Stage, holder: Instance, key: Thing) -> Thing:
    if isinstance(holder.of, Definition) and holder.of.member("__getitem__") is not UNKNOWN:
        return stage.call(stage.member(holder, "__getitem__"), (key,), {}, stage.here, stage.nowhere)
    if layers.is_module(holder):
        held = layers.entries(holder)
        several = list(held.values())
        if isinstance(key, int):
            return several[key] if -len(several) <= key < len(several) else UNKNOWN
        if isinstance(key, slice):
            made = Instance(holder.of, {"training": True})
            layers.entries(made).update({str(at): one for at, one in enumerate(several[key])})
            return made
        return held.get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN
    return holder.attributes.get(f"[{key!r}]", UNKNOWN)


def _comprehension(stage: Stage, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Thing:
    inner = Scope({}, scope, scope.top, scope.path)
    first = stage.iterate(stage.evaluate(node.generators[0].iter, scope))
    if first is None:
        return UNKNOWN
    found = (stage.evaluate(node.elt, inner) for _ in _rounds(stage, node.generators, inner, first))
    if isinstance(node, ast.GeneratorExp):
        return found
    return _hashed(found) if isinstance(node, ast.SetComp) else list(found)


def _dict_comprehension(stage: Stage, node: ast.DictComp, scope: Scope) -> Thing:
    inner = Scope({}, scope, scope.top, scope.path)
    first = stage.iterate(stage.evaluate(node.generators[0].iter, scope))
    if first is None:
        return UNKNOWN
    table: dict[Thing, Thing] = {}
    for _ in _rounds(stage, node.generators, inner, first):
        put(table, stage.evaluate(node.key, inner), stage.evaluate(node.value, inner))
    return table


def _rounds(
    stage: Stage, generators: Sequence[ast.comprehension], scope: Scope, first: Iterator[Thing]
) -> Iterator[None]:
    """Go through the rounds of a comprehension, its variables bound."""
    one, rest = generators[0], generators[1:]
    for thing in first:
        bind(stage, one.target, thing, scope)
        if all(truth(stage, stage.evaluate(test, scope)) for test in one.ifs):
            if not rest:
                yield None
            else:
                yield from _rounds(stage, rest, scope, stage.iterate(stage.evaluate(rest[0].iter, scope)) or iter(()))


def _awaited(stage: Stage, node: ast.Await, scope: Scope) -> Thing:
    return stage.evaluate(node.value, scope)


_HANDLERS = cast(
    "dict[type[ast.expr], Callable[[Stage, ast.expr, Scope], Thing]]",
    {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.BoolOp: _boolean,
        ast.Compare: _compare,
        ast.IfExp: _conditional,
        ast.List: _list,
        ast.Tuple: _tuple,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.JoinedStr: _text,
        ast.FormattedValue: _formatted,
        ast.Lambda: _lambda,
        ast.NamedExpr: _named,
        ast.Slice: _slice,
        ast.Subscript: _subscript,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _dict_comprehension,
        ast.Await: _awaited,
    },
)
