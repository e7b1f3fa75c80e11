"""Where a text keeps what a call gives: in variables, containers and attributes, and what it returns.

Followed is the object itself, or the memory of a tensor: through names, views, displays and comprehensions. What
computes something else of it keeps nothing.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from nonstrict.facts.fates import text_of
from nonstrict.facts.scopes import FunctionNode
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Root = FunctionNode | ast.Module
_Collection = ast.ListComp | ast.SetComp | ast.DictComp
_Display = ast.List | ast.Tuple | ast.Set | ast.Dict
#: Methods of containers that keep what they are given.
ADDING = frozenset({"append", "appendleft", "extend", "add", "insert", "setdefault", "update", "put"})
#: What makes a container of what it goes through, by its dotted name.
CONTAINERS = frozenset({"builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.dict"})


class Way(enum.Enum):
    """How something is kept."""

    VARIABLE = "variable"
    CONTAINER = "container"
    ATTRIBUTE = "attribute"
    RETURNED = "returned"
    YIELDED = "yielded"
    GIVEN = "given"


class Kept(NamedTuple):
    """A place where a text keeps something: a binding, what adds it, or the expression that is returned or given.

    `name` is that of the variable, container or attribute, in steps; none of what has no name.
    """

    way: Way
    node: ast.AST
    name: tuple[str, ...] = ()


class Shares(NamedTuple):
    """What is known of calls: whether the result has the memory of what they are given, and what is called.

    `runs` are those that are told where they are given it.
    """

    views: Callable[[ast.Call], bool]
    named: Callable[[ast.AST], str]
    runs: frozenset[ast.AST]


def kept(root: Root, node: ast.expr, shares: Shares) -> list[Kept]:
    """The places where a text keeps what an expression of it gives; `shares.runs` are calls to tell of."""
    found = _Keeping(root, shares)
    found.follow(node)
    return found.seen


class _Keeping:
    """Collects places."""

    def __init__(self, root: Root, shares: Shares) -> None:
        self._root = root
        self._text = text_of(root)
        self._shares = shares
        self._followed: set[ast.AST] = set()
        self.seen: list[Kept] = []

    def follow(self, node: ast.expr) -> None:
        """Collect where the value of an expression is kept."""
        around = self._text.parents.get(node)
        if node in self._followed or around is None:
            return
        self._followed.add(node)
        if isinstance(around, ast.Call):
            self._given(around, node)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self._assigned(around)
        elif isinstance(around, ast.AugAssign):
            if isinstance(node, (*_display(), *_collection())):
                self._add(Way.CONTAINER, around, around.target)
        elif isinstance(around, (ast.Return, ast.Yield)):
            self._add(Way.RETURNED if isinstance(around, ast.Return) else Way.YIELDED, node)
        elif _is_collected(around, node):
            if not isinstance(around, ast.GeneratorExp) and not isinstance(self._text.parents.get(around), ast.Expr):
                self._add(Way.CONTAINER, node)
            self.follow(around)
        elif self._is_itself(around, node):
            self.follow(around)
        elif isinstance(around, ast.Attribute):
            call = self._text.parents.get(around)
            if isinstance(call, ast.Call) and call.func is around and self._shares.views(call):
                self.follow(call)

    def _add(self, way: Way, node: ast.AST, target: ast.expr | None = None) -> None:
        self.seen.append(Kept(way, node, steps_of(target) if target is not None else ()))

    def _is_itself(self, around: ast.AST, node: ast.expr) -> TypeGuard[ast.expr]:
        """Whether an expression gives what one in it gives, a part of that, or a container with it."""
        if isinstance(around, ast.Subscript):
            return around.value is node and isinstance(around.ctx, ast.Load) and _is_basic(around.slice)
        if isinstance(around, ast.IfExp):
            return node is not around.test
        if isinstance(around, ast.BinOp):
            return isinstance(around.op, ast.Add) and isinstance(node, (*_display(), *_collection()))
        if isinstance(around, ast.Attribute):
            return around.attr in ("T", "mT", "H", "mH", "data", "real")
        return isinstance(around, (*_display(), ast.Starred, ast.Await))

    def _given(self, call: ast.Call, node: ast.expr) -> None:
        if call in self._shares.runs:
            self._add(Way.GIVEN, node)
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ADDING and node in call.args:
            self._add(Way.CONTAINER, call, call.func.value)
        elif node in call.args[:1]:
            named = self._shares.named(call.func)
            if named in CONTAINERS:
                if isinstance(node, ast.GeneratorExp):
                    self._add(Way.CONTAINER, node.elt)
                self.follow(call)
            elif (named or not isinstance(call.func, ast.Attribute)) and self._shares.views(call):
                self.follow(call)

    def _assigned(self, around: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
            for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                self._bound(one, around)
        if isinstance(around, ast.NamedExpr):
            self.follow(around)

    def _bound(self, target: ast.expr, around: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self._add(Way.VARIABLE, around, target)
            for load in loads_of(self._root, (target.id,)):
                self.follow(load)
        elif isinstance(target, ast.Attribute) and (steps := steps_of(target)):
            self._add(Way.ATTRIBUTE, around, target)
            for load in loads_of(self._root, steps):
                self.follow(load)
        elif isinstance(target, ast.Subscript) and self._is_container(target.value):
            self._add(Way.CONTAINER, around, target.value)

    def _is_container(self, held: ast.expr) -> bool:
        """Whether a variable is bound to a container wherever it is, and to no tensor, to which a store copies."""
        if not isinstance(held, ast.Name):
            return False
        bound = [one for one in own_scope(self._root) if isinstance(one, (ast.Assign, ast.AnnAssign))]
        values = [
            one.value
            for one in bound
            for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
            if isinstance(target, ast.Name) and target.id == held.id and one.value is not None
        ]
        return bool(values) and all(self._makes_container(one) for one in values)

    def _makes_container(self, value: ast.expr) -> bool:
        if isinstance(value, ast.BinOp):
            return self._makes_container(value.left) or self._makes_container(value.right)
        if isinstance(value, ast.Call):
            return self._shares.named(value.func) in CONTAINERS | {"collections.defaultdict", "collections.OrderedDict"}
        return isinstance(value, (*_display(), *_collection()))


def _display() -> tuple[type[_Display], ...]:
    return (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _collection() -> tuple[type[_Collection], ...]:
    return (ast.ListComp, ast.SetComp, ast.DictComp)


def _is_collected(around: ast.AST, node: ast.expr) -> TypeGuard[ast.expr]:
    """Whether a comprehension gives the values of an expression."""
    if isinstance(around, ast.DictComp):
        return around.value is node
    return isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and around.elt is node


def _is_basic(index: ast.expr) -> bool:
    """Whether an index takes a view of a tensor, or an entry of a container: numbers, slices."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        isinstance(one, (ast.Slice, ast.Constant))
        or (isinstance(one, ast.UnaryOp) and isinstance(one.operand, ast.Constant))
        for one in parts
    )


def loads_of(root: Root, steps: tuple[str, ...]) -> Iterator[ast.expr]:
    """The expressions of a text that read a variable, or an attribute of one, in the order of `walk`."""
    for node in walk(root):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and steps_of(node) == steps:
            yield node
