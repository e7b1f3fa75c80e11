"""What runs between the place where something is kept and those that read it, in one text.

`means` tells which functions, and methods of containers, are called.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.fates import Use, fates
from nonstrict.facts.holding import ADDING, Kept, Meaning, consumer_of, spelled
from nonstrict.facts.running_order import Order, begin_of, end_of, order_of
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.texts import Root, Text, text_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import tensor_attribute, tensor_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.steps import Steps

#: Functions that ask what something is, not what it holds.
_ASKING = frozenset({"len", "isinstance", "type", "id"})
#: Methods that take out of a container what was put in.
EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "get_nowait"})
#: What those of the program do that empty one and give something of it.
DRAIN = "drain"


class Outlived(NamedTuple):
    """A run that something is kept beyond, and what reads it then."""

    run: ast.AST
    read: ast.AST


def outlived(
    root: Root,
    one: Kept,
    runs: Sequence[ast.AST],
    *,
    again: bool,
    then: Sequence[ast.AST] | None = None,
    means: Meaning = spelled,
) -> Outlived | None:
    """The first run that lies between a binding and a read of what it binds, in one text; None where none does.

    With `again` the text as a whole runs again, and finds what it kept there. One of `then` has to lie behind the run.
    """
    text, order = text_of(root), order_of(root)
    for read in order.reached(one.name, one.node, again=again):
        if not _asks_for_form(text, read, means):
            between = (run for run in runs if order.lies_between(one.node, run, read, again=again))
            run = next((run for run in between if _comes(order, run, then, read, again=again)), None)
            if run is not None:
                return Outlived(run, read)
    return None


def _comes(order: Order, end: ast.AST, then: Sequence[ast.AST] | None, read: ast.AST, *, again: bool) -> bool:
    return then is None or any(order.lies_between(end, run, read, again=again) for run in then)


def collected(root: Root, one: Kept, node: ast.expr, *, means: Meaning = spelled) -> Outlived | None:
    """What reads a container that the rounds of a loop put what an expression gives into, one after the other."""
    order, text = order_of(root), text_of(root)
    loads = order.loads(one.name)
    changes = {*_changes(root, one.name, means)} - {one.node}
    for loop in order.loops(one.node):
        inside = {*walk(loop)}
        if node not in inside or not changes.isdisjoint(inside):
            return None  # made anew in each round, or emptied
        reads = (read for read in loads if read not in inside and begin_of(read) > begin_of(loop))
        read = next((each for each in reads if not _only_asks(text, each, means)), None)
        if read is not None or is_shared(root, one.name):
            return Outlived(node, read if read is not None else one.node)
    return None


def made(root: Root, one: Kept, node: ast.expr, *, means: Meaning = spelled) -> Outlived | None:
    """The same of a container that an expression makes round by round; None where nothing looks into it."""
    text = text_of(root)
    container = text.parents[one.node]
    if not _is_each_round(container, node):
        return None
    if isinstance(container, ast.GeneratorExp):
        container = text.parents[container]
    if not isinstance(container, ast.expr):
        return None
    return Outlived(node, one.node) if _is_used(text, container, means) else None


def _is_each_round(comprehension: ast.AST, node: ast.AST) -> bool:
    """Whether a comprehension computes an expression anew in each of its rounds."""
    first: ast.AST = getattr(comprehension, "generators", [comprehension])[0]
    once = {*walk(first.iter)} if isinstance(first, ast.comprehension) else set[ast.AST]()
    return node in {*walk(comprehension)} - once


def looked_into(root: Root, name: Steps, but: ast.AST | None = None, *, means: Meaning = spelled) -> ast.expr | None:
    """The first read in a text that looks into a container of a name, and is no part of a node."""
    text, own = text_of(root), {*walk(but)} if but is not None else set[ast.AST]()
    reads = (read for read in order_of(root).loads(name) if read not in own)
    return next((read for read in reads if not _only_asks(text, read, means)), None)


def is_emptied(root: Root, one: Kept, *, means: Meaning = spelled) -> bool:
    """Whether a text empties a container, or makes it anew, whenever it adds to it."""
    order = order_of(root)
    return any(order.is_sure(each, one.node) for each in _changes(root, one.name, means) if each is not one.node)


def empties(root: Root, name: Steps, *, means: Meaning = spelled) -> bool:
    """Whether a text empties a container of a name, or makes it anew."""
    return bool(_changes(root, name, means))


def _changes(root: Root, name: Steps, means: Meaning) -> list[ast.AST]:
    """What binds a name, or takes out of a container what was put in."""
    text, order = text_of(root), order_of(root)
    return [
        *order.stores(name),
        *(read for read in order.loads(name) if _is_asked(text, read, EMPTYING | {DRAIN}, means)),
    ]


def read_behind(
    root: Root,
    name: Steps,
    runs: Sequence[ast.AST],
    binding: Sequence[ast.AST],
    *,
    means: Meaning = spelled,
) -> Outlived | None:
    """The first run in a text before it reads what another one bound; `binding` are calls that bind it anew."""
    text, order = text_of(root), order_of(root)
    anew = [*order.stores(name), *binding]
    for read in order.loads(name):
        if not _asks_for_form(text, read, means) and not any(order.precedes(one, read) for one in anew):
            run = next((one for one in runs if order.precedes(one, read)), None)
            if run is not None:
                return Outlived(run, read)
    return None


def beside(root: Root, one: Kept, runs: Sequence[ast.AST], *, means: Meaning = spelled) -> Outlived | None:
    """The first run among the operands that are computed before something is used together with them."""
    text, order = text_of(root), order_of(root)
    if not isinstance(one.node, ast.expr) or (consumer := consumer_of(text, one.node)) is None:
        return None
    if isinstance(consumer, (ast.List, ast.Tuple, ast.Set, ast.Dict)) and not _is_used(text, consumer, means):
        return None
    for run in runs:
        if consumer in order.way(run) and end_of(one.node) <= begin_of(run) and order.is_sure(run, one.node):
            return Outlived(run, one.node)
    return None


def _is_used(text: Text, container: ast.expr, means: Meaning) -> bool:
    """Whether something looks into a container that an expression makes."""
    return any(one.use not in (Use.BOUND, Use.DROPPED) for one in fates(text, container, partial(_asks, means)))


def is_shared(root: Root, name: Steps) -> bool:
    """Whether others may read a variable of a text: what it does not bind itself, or declares global."""
    if not isinstance(root, FunctionNode):
        return False
    scope = scope_of(root)
    return len(name) > 1 or not name or name[0] not in scope.local or name[0] in scope.parameters


def _asks_for_form(text: Text, read: ast.expr, means: Meaning) -> bool:
    """Whether a read asks of a tensor whether it is there, or for its metadata, which stays readable."""
    around = text.parents.get(read)
    if isinstance(around, ast.Compare):
        return all(isinstance(one, (ast.Is, ast.IsNot)) for one in around.ops)
    if not isinstance(around, ast.Attribute):
        return _is_asked_for(text, read, means)
    operator = tensor_method(around.attr)
    return tensor_attribute(around.attr) not in (None, "tensor") if operator is None else operator.tells_form


def _only_asks(text: Text, read: ast.expr, means: Meaning) -> bool:
    """Whether a read of a container asks how long it is, or whether it holds anything, or adds to it."""
    around = text.parents.get(read)
    is_test = isinstance(around, (ast.If, ast.While, ast.Assert)) and around.test is read
    return is_test or _is_asked(text, read, ADDING | EMPTYING, means) or _is_asked_for(text, read, means)


def _is_asked(text: Text, read: ast.expr, methods: frozenset[str], means: Meaning) -> bool:
    around = text.parents.get(read)
    return isinstance(around, ast.Attribute) and means(around) in methods


def _is_asked_for(text: Text, read: ast.expr, means: Meaning) -> bool:
    around = text.parents.get(read)
    return isinstance(around, ast.Call) and _asks(means, around)


def _asks(means: Meaning, call: ast.Call) -> bool:
    """Whether a call asks what something is, not what it holds."""
    return isinstance(call.func, ast.Name) and means(call.func) in _ASKING
