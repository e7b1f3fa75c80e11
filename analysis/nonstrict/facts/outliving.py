"""What runs between the place where something is kept and those that read it, in one text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.fates import Text, text_of
from nonstrict.facts.holding import ADDING, Kept
from nonstrict.facts.running_order import Root, begin_of, order_of
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import tensor_attribute, tensor_method

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Functions that ask what something is, not what it holds.
_ASKING = frozenset({"len", "isinstance", "type", "id"})
#: Methods that take out of a container what was put in.
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "get_nowait"})


class Outlived(NamedTuple):
    """A run that something is kept beyond, and what reads it then."""

    run: ast.AST
    read: ast.AST


def outlived(root: Root, one: Kept, runs: Sequence[ast.AST], *, again: bool) -> Outlived | None:
    """The first run that lies between a binding and a read of what it binds, in one text; None where none does.

    With `again` the text as a whole runs again, and finds what it kept there.
    """
    text, order = text_of(root), order_of(root)
    for read in order.reached(one.name, one.node, again=again):
        if not _asks_for_form(text, read):
            between = (run for run in runs if order.lies_between(one.node, run, read, again=again))
            if (run := next(between, None)) is not None:
                return Outlived(run, read)
    return None


def collected(root: Root, one: Kept, node: ast.expr) -> Outlived | None:
    """What reads a container that the rounds of a loop put what an expression gives into, one after the other."""
    order, text = order_of(root), text_of(root)
    loads = order.loads(one.name)
    changes = {each for each in order.stores(one.name) if each is not one.node}
    changes |= {read for read in loads if _is_asked(text, read, _EMPTYING)}
    for loop in order.loops(one.node):
        inside = {*walk(loop)}
        if node not in inside or not changes.isdisjoint(inside):
            return None  # made anew in each round, or emptied
        reads = (read for read in loads if read not in inside and begin_of(read) > begin_of(loop))
        read = next((each for each in reads if not _only_asks(text, each)), None)
        if read is not None or is_shared(root, one.name):
            return Outlived(node, read if read is not None else one.node)
    return None


def is_shared(root: Root, name: tuple[str, ...]) -> bool:
    """Whether others may read a variable of a text: what it does not bind itself, or declares global."""
    if not isinstance(root, FunctionNode):
        return False
    scope = scope_of(root)
    return len(name) > 1 or not name or name[0] not in scope.local or name[0] in scope.parameters


def _asks_for_form(text: Text, read: ast.expr) -> bool:
    """Whether a read asks of a tensor whether it is there, or for its metadata, which stays readable."""
    around = text.parents.get(read)
    if isinstance(around, ast.Compare):
        return all(isinstance(one, (ast.Is, ast.IsNot)) for one in around.ops)
    if not isinstance(around, ast.Attribute):
        return _is_given(text, read, _ASKING)
    operator = tensor_method(around.attr)
    return tensor_attribute(around.attr) not in (None, "tensor") if operator is None else operator.tells_form


def _only_asks(text: Text, read: ast.expr) -> bool:
    """Whether a read of a container asks how long it is, or whether it holds anything, or adds to it."""
    around = text.parents.get(read)
    is_test = isinstance(around, (ast.If, ast.While, ast.Assert)) and around.test is read
    return is_test or _is_asked(text, read, ADDING | _EMPTYING) or _is_given(text, read, _ASKING)


def _is_asked(text: Text, read: ast.expr, methods: frozenset[str]) -> bool:
    around = text.parents.get(read)
    return isinstance(around, ast.Attribute) and around.attr in methods


def _is_given(text: Text, read: ast.expr, functions: frozenset[str]) -> bool:
    around = text.parents.get(read)
    return isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in functions
