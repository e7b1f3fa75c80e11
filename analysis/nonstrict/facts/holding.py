"""Where a text keeps what a call gives: in variables, containers and attributes, and what it returns.

Followed is the object itself, or the memory of a tensor: through names, views, displays and comprehensions. What
computes something else of it keeps nothing.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from nonstrict.facts.fates import text_of
from nonstrict.facts.running_order import Root, order_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Callable

_Collection = ast.ListComp | ast.SetComp | ast.DictComp
_Display = ast.List | ast.Tuple | ast.Set | ast.Dict
#: Methods of containers that keep what they are given; those of the second line others have for something else.
_APPENDING = frozenset({"append", "appendleft", "extend"})
ADDING = _APPENDING | {"add", "insert", "setdefault", "update", "put"}
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

    `value` is the expression that gives what is kept there, `name` that of the variable, container or attribute, in
    steps; none of what has no name.
    """

    way: Way
    node: ast.AST
    value: ast.expr
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
        self._order = order_of(root)
        self._shares = shares
        self._followed: set[tuple[ast.AST, ast.AST]] = set()
        self.seen: list[Kept] = []

    def follow(self, node: ast.expr, value: ast.expr | None = None) -> None:
        """Collect where the value of an expression is kept, or of one that is in the container that it makes."""
        around, value = self._text.parents.get(node), value if value is not None else node
        if (node, value) in self._followed or around is None:
            return
        self._followed.add((node, value))
        if isinstance(around, ast.Call):
            self._given(around, node, value)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self._assigned(around, node, value)
        elif isinstance(around, ast.AugAssign):
            if isinstance(node, (*_display(), *_collection())):
                self._add(Way.CONTAINER, around, value, around.target)
        elif isinstance(around, (ast.Return, ast.Yield)):
            self._add(Way.RETURNED if isinstance(around, ast.Return) else Way.YIELDED, node, value)
        elif _is_collected(around, node):
            if not isinstance(around, ast.GeneratorExp) and not isinstance(self._text.parents.get(around), ast.Expr):
                self._add(Way.CONTAINER, node, value)
            self.follow(around, value)
        elif self._is_itself(around, node):
            self.follow(around, None if isinstance(around, (ast.Subscript, ast.Attribute)) else value)
        elif isinstance(around, ast.Attribute):
            call = self._text.parents.get(around)
            if isinstance(call, ast.Call) and call.func is around and self._shares.views(call):
                self.follow(call)

    def _add(self, way: Way, node: ast.AST, value: ast.expr, target: ast.expr | None = None) -> None:
        self.seen.append(Kept(way, node, value, steps_of(target) if target is not None else ()))

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

    def _given(self, call: ast.Call, node: ast.expr, value: ast.expr) -> None:
        if call in self._shares.runs:
            self._add(Way.GIVEN, node, value)
        elif isinstance(call.func, ast.Attribute) and node in call.args and self._adds(call.func):
            self._add(Way.CONTAINER, call, value, call.func.value)
        elif node in call.args[:1]:
            named = self._shares.named(call.func)
            if named in CONTAINERS:
                if isinstance(node, ast.GeneratorExp):
                    self._add(Way.CONTAINER, node.elt, value)
                self.follow(call, value)
            elif (named or not isinstance(call.func, ast.Attribute)) and self._shares.views(call):
                self.follow(call)

    def _adds(self, method: ast.Attribute) -> bool:
        """Whether a method keeps in a container what it is given."""
        if method.attr in _APPENDING:
            return not self._shares.named(method)
        return method.attr in ADDING and self._is_container(method.value)

    def _assigned(self, around: ast.Assign | ast.AnnAssign | ast.NamedExpr, node: ast.expr, value: ast.expr) -> None:
        for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
            for one in _taking(target, node, value):
                self._bound(one, around, value)
        if isinstance(around, ast.NamedExpr):
            self.follow(around)

    def _bound(self, target: ast.expr, around: ast.AST, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._add(Way.VARIABLE, around, value, target)
            self._read((target.id,), around)
        elif isinstance(target, ast.Attribute) and (steps := steps_of(target)):
            self._add(Way.ATTRIBUTE, around, value, target)
            self._read(steps, around, again=True)
        elif isinstance(target, ast.Subscript) and self._is_container(target.value) and not _is_constant(target.slice):
            self._add(Way.CONTAINER, around, value, target.value)

    def _read(self, steps: tuple[str, ...], bound: ast.AST, *, again: bool = False) -> None:
        """Follow what reads a variable or attribute that a statement binds, before it is bound anew."""
        for load in self._order.reached(steps, bound, again=again):
            self.follow(load)

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


def _taking(target: ast.expr, given: ast.expr, value: ast.expr) -> list[ast.expr]:
    """What of a target takes a value, or a part of it: of what is written out, the one in its place."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [target]
    if not isinstance(given, (ast.Tuple, ast.List)):
        return target.elts
    starred = any(isinstance(one, ast.Starred) for one in (*target.elts, *given.elts))
    if starred or len(target.elts) != len(given.elts):
        return []
    pairs = zip(target.elts, given.elts, strict=True)
    return [one for one, other in pairs if any(each is value for each in walk(other))]


def _is_constant(index: ast.expr) -> bool:
    """Whether an index is the same in each round."""
    return isinstance(index, ast.Constant) or isinstance(getattr(index, "operand", None), ast.Constant)


def _is_basic(index: ast.expr) -> bool:
    """Whether an index takes a view of a tensor, or an entry of a container: numbers, slices."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        isinstance(one, (ast.Slice, ast.Constant))
        or (isinstance(one, ast.UnaryOp) and isinstance(one.operand, ast.Constant))
        for one in parts
    )
