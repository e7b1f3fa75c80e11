"""Where a text keeps what a call gives: in variables, containers and attributes, and what it returns.

Followed is the object itself, or the memory of a tensor: through names, views, displays and comprehensions. What
computes something else of it keeps nothing.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard

from nonstrict.facts.running_order import begin_of, end_of, order_of
from nonstrict.facts.steps import ANY_ENTRY, EACH, entry, may_meet, steps_of
from nonstrict.facts.texts import Root, Text, text_of
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.facts.steps import Steps

_Collection = ast.ListComp | ast.SetComp | ast.DictComp
_Display = ast.List | ast.Tuple | ast.Set | ast.Dict
#: Methods of containers that keep what they are given; those of the second line others have for something else.
_APPENDING = frozenset({"append", "appendleft", "extend"})
ADDING = _APPENDING | {"add", "insert", "setdefault", "update", "put"}
#: Methods of dictionaries that give what they hold, in pairs with the keys, and without.
_PAIRS, _VALUES = frozenset({"items"}), frozenset({"values"})
#: What makes a container of what it goes through, by its dotted name.
CONTAINERS = frozenset({"builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.dict"})
_DICT = "builtins.dict"


class Way(enum.Enum):
    """How something is kept."""

    VARIABLE = "variable"
    CONTAINER = "container"
    ATTRIBUTE = "attribute"
    RETURNED = "returned"
    YIELDED = "yielded"
    GIVEN = "given"
    OPERAND = "operand"
    """By the expression around it, until the other operands of that are computed."""


class Where(NamedTuple):
    """Which `part` of what is followed, in steps, and the entries of containers that hold it, from inside out."""

    part: Steps = ()
    inside: Steps = ()

    def put(self, step: str) -> Where:
        """The same in a container, as an entry of it."""
        return Where(self.part, (*self.inside, step))

    def taken(self, step: str) -> Where | None:
        """What a step takes of it; None where that takes something else out of a container."""
        if not self.inside:
            return Where((*self.part, step))
        may_be = step.startswith("[") and step != EACH and may_meet((step,), self.inside[-1:])
        return Where(self.part, self.inside[:-1]) if may_be else None

    @property
    def each(self) -> Where | None:
        """What a loop over it takes out one by one; None where that are keys."""
        if not self.inside:
            return self.taken(EACH)
        return None if self.inside[-1].startswith(("['", '["')) else self.taken(ANY_ENTRY)


WHOLE = Where()


class Kept(NamedTuple):
    """A place where a text keeps something: a binding, what adds it, or the expression that is returned or given.

    `value` is the expression that gives what is kept there, `name` that of the variable, container or attribute, in
    steps; none of what has no name. `where` says which part of what is followed that is, `given` which one `value`
    gives.
    """

    way: Way
    node: ast.AST
    value: ast.expr
    name: Steps = ()
    where: Where = WHOLE
    given: Where = WHOLE

    @property
    def is_value(self) -> bool:
        """Whether what is kept is what `value` gives, and neither a part of that nor in a container there."""
        return not self.given.inside and self.given.part == self.where.part


#: Tells of what is called which function, or method of a container, it is; "" of something else under such a name.
Meaning: TypeAlias = "Callable[[ast.expr], str]"


def spelled(called: ast.expr) -> str:
    """What a call calls, if it is what it is called."""
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


class Shares(NamedTuple):
    """What is known of calls: whether the result has the memory of what they are given, and what is called.

    `runs` are those that are told where they are given it. `holds` says whether a part of what is followed may be such
    memory, or hold it.
    """

    views: Callable[[ast.Call], bool]
    named: Callable[[ast.AST], str]
    runs: frozenset[ast.AST]
    holds: Callable[[Steps], bool]
    means: Meaning = spelled


def kept(root: Root, node: ast.expr, shares: Shares, where: Where = WHOLE) -> list[Kept]:
    """The places where a text keeps what an expression of it gives; `shares.runs` are calls to tell of."""
    found = _Keeping(root, shares)
    found.follow(_holding(node, where))
    return found.seen


class _Held(NamedTuple):
    """An expression, and which one gives what is kept in it, as the part of a container that it makes, say.

    That one has what is followed where `given` says.
    """

    node: ast.expr
    value: ast.expr
    where: Where
    given: Where

    def in_container(self, around: ast.expr, step: str) -> _Held:
        """The same in what makes a container of it."""
        return self._replace(node=around, where=self.where.put(step))


def _holding(node: ast.expr, where: Where) -> _Held:
    """An expression that gives itself what is kept in it."""
    return _Held(node, node, where, where)


class _Keeping:
    """Collects places."""

    def __init__(self, root: Root, shares: Shares) -> None:
        self._root = root
        self._text = text_of(root)
        self._order = order_of(root)
        self._shares = shares
        self._followed: set[_Held] = set()
        self.seen: list[Kept] = []

    def follow(self, held: _Held) -> None:
        """Collect where the value of an expression is kept, or of one that is in the container that it makes."""
        around = self._text.parents.get(held.node)
        if around is None or held in self._followed or not self._shares.holds(held.where.part):
            return
        self._followed.add(held)
        self._add_operand(held)
        around = self._text.parents[around] if isinstance(around, ast.keyword) else around
        if isinstance(around, ast.Call):
            self._given(around, held)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self._assigned(around, held)
        elif isinstance(around, ast.AugAssign):
            if isinstance(held.node, (*_display(), *_collection())):
                self._add(Way.CONTAINER, around, held, around.target)
        elif isinstance(around, (ast.Return, ast.Yield)):
            self._add(Way.RETURNED if isinstance(around, ast.Return) else Way.YIELDED, held.node, held)
        elif _is_collected(around, held.node):
            if not isinstance(around, ast.GeneratorExp):
                self._add(Way.CONTAINER, held.node, held)
            self.follow(held.in_container(around, ANY_ENTRY))
        elif isinstance(around, (ast.Subscript, ast.Attribute)):
            self._taken(around, held)
        elif isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._iterated(around, held)
        elif (handed := _handed(around, held)) is not None:
            self.follow(handed)

    def _add(self, way: Way, node: ast.AST, held: _Held, target: ast.expr | None = None) -> None:
        name = steps_of(target) if target is not None else ()
        self.seen.append(Kept(way, node, held.value, name, held.where, held.given))

    def _add_operand(self, held: _Held) -> None:
        consumer = consumer_of(self._text, held.node)
        others = (one for one in walk(consumer) if isinstance(one, ast.Call)) if consumer is not None else ()
        if any(begin_of(one) >= end_of(held.node) for one in others):
            self._add(Way.OPERAND, held.node, held)

    def _taken(self, around: ast.Subscript | ast.Attribute, held: _Held) -> None:
        """A part of what is followed, or a view of it by a method."""
        if around.value is not held.node or not isinstance(around.ctx, ast.Load):
            return
        call = self._text.parents.get(around)
        if isinstance(call, ast.Call) and call.func is around:
            if self._shares.views(call) and not held.where.inside:
                self.follow(_holding(call, held.where))
            name = self._shares.means(around)
            if name in _PAIRS | _VALUES:
                each = held.where.taken(ANY_ENTRY)
                part = each.put("[1]") if each is not None and name in _PAIRS else each
                if part is not None:
                    self.follow(held._replace(node=call, where=part.put(ANY_ENTRY)))
        elif isinstance(around, ast.Attribute) or _is_basic(around.slice):
            step = f".{around.attr}" if isinstance(around, ast.Attribute) else entry(around.slice)
            if (where := held.where.taken(step)) is not None:
                self.follow(_holding(around, where))

    def _iterated(self, around: ast.For | ast.AsyncFor | ast.comprehension, held: _Held) -> None:
        """What a loop or comprehension takes out one by one."""
        each = held.where.each if around.iter is held.node else None
        for target, where in _taking(around.target, each) if each is not None else ():
            if not isinstance(target, ast.Name) or not self._shares.holds(where.part):
                continue
            if isinstance(around, ast.comprehension):
                inside = (one for one in walk(self._text.parents[around]) if isinstance(one, ast.Name))
                reads = [one for one in inside if one.id == target.id and isinstance(one.ctx, ast.Load)]
            else:
                reads = [*self._order.reached((target.id,), target)]
            for read in reads:
                self.follow(_holding(read, where))

    def _given(self, call: ast.Call, held: _Held) -> None:
        node = held.node
        if call in self._shares.runs:
            self._add(Way.GIVEN, node, held)
        elif isinstance(call.func, ast.Attribute) and node in call.args and self._adds(call.func):
            self._add(Way.CONTAINER, call, held, call.func.value)
        elif node in call.args[:1]:
            named = self._shares.named(call.func)
            if named in CONTAINERS:
                if isinstance(node, ast.GeneratorExp):
                    self._add(Way.CONTAINER, node.elt, held)
                where = held.where.taken(ANY_ENTRY) if named == _DICT else held.where.each
                if where is not None:
                    self.follow(held._replace(node=call, where=where.put(ANY_ENTRY)))
            elif (named or not isinstance(call.func, ast.Attribute)) and self._shares.views(call):
                self.follow(_holding(call, held.where))

    def _adds(self, method: ast.Attribute) -> bool:
        """Whether a method keeps in a container what it is given."""
        name = self._shares.means(method)
        if name in _APPENDING:
            return not self._shares.named(method)
        return name in ADDING and self._is_container(method.value)

    def _assigned(self, around: ast.Assign | ast.AnnAssign | ast.NamedExpr, held: _Held) -> None:
        for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
            for one, where in _taking(target, held.where):
                self._bound(one, around, held._replace(where=where))
        if isinstance(around, ast.NamedExpr):
            self.follow(held._replace(node=around))

    def _bound(self, target: ast.expr, around: ast.AST, held: _Held) -> None:
        if not self._shares.holds(held.where.part):
            return
        if isinstance(target, ast.Name):
            self._add(Way.VARIABLE, around, held, target)
            self._read((target.id,), around, held.where)
        elif isinstance(target, ast.Attribute) and (steps := steps_of(target)):
            self._add(Way.ATTRIBUTE, around, held, target)
            self._read(steps, around, held.where, again=True)
        elif isinstance(target, ast.Subscript) and self._is_container(target.value) and not _is_constant(target.slice):
            self._add(Way.CONTAINER, around, held, target.value)

    def _read(self, steps: Steps, bound: ast.AST, where: Where, *, again: bool = False) -> None:
        """Follow what reads a variable or attribute that a statement binds, before it is bound anew."""
        for load in self._order.reached(steps, bound, again=again):
            self.follow(_holding(load, where))

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


def consumer_of(text: Text, node: ast.expr) -> ast.expr | ast.AugAssign | None:
    """What uses what an expression gives, or keeps it, when all its operands are computed; None if nothing does.

    Of a method that is the call, of `total += ...` the statement.
    """
    around = text.parents.get(node)
    if isinstance(around, ast.AugAssign):
        return around if around.target is node else None
    if isinstance(around, (ast.Attribute, ast.keyword)):
        call = text.parents.get(around)
        is_part = isinstance(call, ast.Call) and (isinstance(around, ast.keyword) or call.func is around)
        return call if is_part and isinstance(call, ast.Call) else None
    return around if isinstance(around, (ast.BinOp, ast.Compare, ast.Call, ast.Subscript, *_display())) else None


def _handed(around: ast.AST, held: _Held) -> _Held | None:
    """What is around an expression, where that gives the same, or a container with it."""
    node = held.node
    if isinstance(around, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        step = _position(around, node)
        return held.in_container(around, step) if step else held._replace(node=around)
    if isinstance(around, ast.Starred):
        where = held.where.each
        return held._replace(node=around, where=where) if where is not None else None
    if isinstance(around, ast.IfExp):
        return held._replace(node=around) if node is not around.test else None
    if isinstance(around, ast.BinOp):
        joins = isinstance(around.op, ast.Add) and isinstance(node, (*_display(), *_collection()))
        inside = (*held.where.inside[:-1], ANY_ENTRY)
        return held._replace(node=around, where=held.where._replace(inside=inside)) if joins else None
    return held._replace(node=around) if isinstance(around, ast.Await) else None


def _position(display: _Display, node: ast.expr) -> str:
    """The step to what stands somewhere in a container that is written out; "" of a dict whose entries it takes."""
    if isinstance(display, ast.Dict):
        key = next((key for key, value in zip(display.keys, display.values, strict=True) if value is node), node)
        return entry(key) if key is not None else ""
    if isinstance(display, ast.Set) or any(isinstance(one, ast.Starred) for one in display.elts):
        return ANY_ENTRY
    return f"[{display.elts.index(node)}]"


def _display() -> tuple[type[_Display], ...]:
    return (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _collection() -> tuple[type[_Collection], ...]:
    return (ast.ListComp, ast.SetComp, ast.DictComp)


def _is_collected(around: ast.AST, node: ast.expr) -> TypeGuard[ast.expr]:
    """Whether a comprehension gives the values of an expression."""
    if isinstance(around, ast.DictComp):
        return around.value is node
    return isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and around.elt is node


def _taking(target: ast.expr, where: Where) -> Iterator[tuple[ast.expr, Where]]:
    """What of a target takes something, or a part of it: what is taken apart gives each its own."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, where
        return
    starred = next((at for at, one in enumerate(target.elts) if isinstance(one, ast.Starred)), len(target.elts))
    for at, one in enumerate(target.elts):
        taken = where.taken(f"[{at if at < starred else at - len(target.elts)}]" if at != starred else ANY_ENTRY)
        if taken is not None:
            inner, taken = (one.value, taken.put(ANY_ENTRY)) if isinstance(one, ast.Starred) else (one, taken)
            yield from _taking(inner, taken)


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
