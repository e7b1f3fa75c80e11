"""What runs between the place where something is kept and those that read it, in one text."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.fates import Text, text_of
from nonstrict.facts.holding import ADDING, Kept, Root, loads_of
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import tensor_attribute, tensor_method

if TYPE_CHECKING:
    from collections.abc import Iterator

_Loop = ast.For | ast.AsyncFor | ast.While
_BRANCHING = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp)


class Outlived(NamedTuple):
    """A run that something is kept beyond, and what reads it then."""

    run: ast.AST
    read: ast.AST


def outlived(root: Root, one: Kept, runs: frozenset[ast.AST], *, again: bool) -> Outlived | None:
    """The run that lies between a binding and a read of what it binds, in one text; None where none does.

    With `again` the text as a whole runs again, and finds what it kept there.
    """
    text = text_of(root)
    order = _Order(text)
    stores = [node for node in _stores_of(root, one.name) if node is not one.node]
    for read in loads_of(root, one.name):
        if order.kills(one.node, read, stores) or _asks_for_form(text, read):
            continue
        for run in runs:
            if order.lies_between(one.node, run, read, again=again):
                return Outlived(run, read)
    return None


def collected(root: Root, one: Kept, node: ast.expr) -> Outlived | None:
    """What reads a container that the rounds of a loop put what an expression gives into, one after the other."""
    order, text = _Order(text_of(root)), text_of(root)
    stores = [each for each in _stores_of(root, one.name) if each is not one.node]
    for loop in order.loops(one.node):
        inside = {*walk(loop)}
        if node not in inside:
            return None
        if any(each in inside for each in stores):
            return None  # made anew in each round, or emptied
        reads = (read for read in loads_of(root, one.name) if read not in inside and _begin(read) > _begin(loop))
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
        return False
    operator = tensor_method(around.attr)
    return tensor_attribute(around.attr) not in (None, "tensor") if operator is None else operator.tells_form


def _only_asks(text: Text, read: ast.expr) -> bool:
    """Whether a read of a container asks how long it is, or adds to it."""
    around = text.parents.get(read)
    if isinstance(around, ast.Attribute):
        return around.attr in {*ADDING, "clear", "pop", "popleft"}
    return isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id == "len"


def _stores_of(root: Root, steps: tuple[str, ...]) -> Iterator[ast.AST]:
    """What binds a variable or an attribute: the statements around its targets."""
    parents = text_of(root).parents
    for node in walk(root):
        is_target = isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load)
        if is_target and steps_of(node) == steps:
            around = node
            while not isinstance(around, (ast.stmt, ast.NamedExpr, ast.comprehension)):
                around = parents[around]
            yield around


def loops_around(root: Root, node: ast.AST) -> list[_Loop]:
    """The loops of a text in whose rounds something runs, from inside out."""
    return _Order(text_of(root)).loops(node)


class _Order:
    """The order in which the parts of a text run."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def way(self, node: ast.AST) -> list[ast.AST]:
        """What is around a node, from inside out."""
        found: list[ast.AST] = []
        while (outer := self._text.parents.get(node)) is not None:
            found.append(outer)
            node = outer
        return found

    def loops(self, node: ast.AST) -> list[_Loop]:
        """The loops in whose rounds something runs, from inside out."""
        way = [node, *self.way(node)]
        pairs = itertools.pairwise(way)
        return [outer for inner, outer in pairs if isinstance(outer, _Loop) and inner in outer.body]

    def excludes(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether two nodes stand in different branches of one condition."""
        inner, outer = [one, *self.way(one)], [other, *self.way(other)]
        common = next((node for node in inner if node in outer), None)
        if not isinstance(common, (ast.If, ast.IfExp)):
            return False
        left, right = _branch(common, inner), _branch(common, outer)
        return left != right and "test" not in (left, right)

    def is_sure(self, node: ast.AST, beside: ast.AST) -> bool:
        """Whether something runs whenever what is beside it does: no condition is around it alone."""
        others = {beside, *self.way(beside)}
        return not any(isinstance(one, _BRANCHING) for one in self.way(node) if one not in others)

    def kills(self, bound: ast.AST, read: ast.AST, stores: list[ast.AST]) -> bool:
        """Whether the variable is surely bound anew between a binding and a read behind it, or in front of it."""
        before, after = _end(bound), _begin(read)
        if before < after:
            return any(before < _end(one) <= after and self.is_sure(one, read) for one in stores)
        loops = self.loops(bound)
        inside = [one for one in stores if any(loop in self.loops(one) for loop in loops[:1])]
        return any(_end(one) <= after and self.is_sure(one, read) for one in inside)

    def lies_between(self, bound: ast.AST, run: ast.AST, read: ast.AST, *, again: bool) -> bool:
        """Whether a run surely comes after a binding and before a read of what it bound."""
        if not self.is_sure(run, read) or self.excludes(run, read):
            return False
        at, begin, time = _end(run), _begin(read), _end(bound)
        if time < begin:
            return time < at <= begin
        if self.excludes(bound, read) and not (again or self._shares_loop(bound, read)):
            return False
        around = self._shares_loop(bound, read)
        if not (again or around):
            return False
        inside = not around or self._shares_loop(bound, run)
        return inside and (at <= begin or at > time)

    def _shares_loop(self, one: ast.AST, other: ast.AST) -> bool:
        return any(loop in self.loops(other) for loop in self.loops(one))


def _branch(condition: ast.If | ast.IfExp, way: list[ast.AST]) -> str:
    """The branch of a condition on whose way something lies."""
    at = way.index(condition)
    inside = way[at - 1] if at else None
    for name in ("body", "orelse"):
        held: object = getattr(condition, name)
        if inside is held or (isinstance(held, list) and inside in held):
            return name
    return "test"


def _begin(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0
