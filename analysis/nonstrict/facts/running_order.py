"""The order in which the parts of one text run: which reads of a variable a binding reaches, and what lies between.

Told by positions: a statement has run where it ends, and runs in each round of the loops around it. What nested
functions read is not told.
"""

from __future__ import annotations

import ast
import itertools
from bisect import bisect_right
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.memo import remembered
from nonstrict.facts.steps import steps_of
from nonstrict.facts.texts import Root, text_of
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.steps import Steps

Loop = ast.For | ast.AsyncFor | ast.While
_BRANCHING = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_WITH_BLOCKS = (ast.stmt, ast.Module, ast.ExceptHandler, ast.match_case)
_LEAVING = (ast.Break, ast.Return, ast.Raise)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: What shows all variables of a text to others.
_REVEALING = frozenset({"locals", "vars", "exec", "eval", "globals"})
_Position: TypeAlias = "tuple[int, int]"


def order_of(root: Root) -> Order:
    """The order of a text; found out once."""
    return remembered(root, "_nonstrict_running_order", Order)


class Order:
    """The order in which the parts of a text run."""

    def __init__(self, root: Root) -> None:
        """Find what reads and binds the variables of a text."""
        self._parents = text_of(root).parents
        own = [*own_scope(root)]
        #: What stands in nested definitions.
        self.nested = [part for one in own if isinstance(one, _DEFINITIONS) for part in walk(one)]
        #: Whether something shows all variables to others.
        self.reveals = any(isinstance(one, ast.Call) and _reveals(one) for one in self._parents)
        self._ways: dict[ast.AST, list[ast.AST]] = {}
        self._around: dict[ast.AST, list[Loop]] = {}
        self._loads: dict[Steps, list[ast.expr]] = {}
        self._stores: dict[Steps, list[ast.AST]] = {}
        for node in own:
            if isinstance(node, (ast.Name, ast.Attribute)) and (steps := steps_of(node)):
                if not isinstance(node.ctx, ast.Load) and not _is_changed(self._parents[node], node):
                    self._stores.setdefault(steps, []).append(self._binding(node))
                elif not self._is_of_comprehension(node, steps[0]):
                    self._loads.setdefault(steps, []).append(node)
        conditions = [one for one in own if isinstance(one, ast.If) and one.orelse]
        for stores in self._stores.values():
            stores += [one for one in conditions if all(_holds_any(part, stores) for part in (one.body, one.orelse))]
            stores.sort(key=end_of)
        for loads in self._loads.values():
            loads.sort(key=begin_of)

    def _binding(self, target: ast.AST) -> ast.AST:
        """The statement that binds a target, or the target where a loop does."""
        around = target
        while not isinstance(around, (ast.stmt, ast.NamedExpr, ast.comprehension)):
            around = self._parents[around]
        return target if isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)) else around

    def _is_of_comprehension(self, node: ast.AST, name: str) -> bool:
        """Whether what is read is a variable of a comprehension."""
        around = (one for one in self.way(node) if isinstance(one, _COMPREHENSIONS))
        targets = (part for one in around for each in one.generators for part in walk(each.target))
        return any(isinstance(part, ast.Name) and part.id == name for part in targets)

    def way(self, node: ast.AST) -> list[ast.AST]:
        """What is around a node, from inside out."""
        if node not in self._ways:
            found: list[ast.AST] = []
            outer = node
            while (around := self._parents.get(outer)) is not None:
                found.append(around)
                outer = around
            self._ways[node] = found
        return self._ways[node]

    def loops(self, node: ast.AST) -> list[Loop]:
        """The loops in whose rounds something runs, from inside out."""
        if node not in self._around:
            pairs = itertools.pairwise((node, *self.way(node)))
            self._around[node] = [
                outer for inner, outer in pairs if isinstance(outer, Loop) and _is_each_round(outer, inner)
            ]
        return self._around[node]

    def loads(self, steps: Steps) -> Sequence[ast.expr]:
        """What reads a variable or attribute, or changes what it holds by `+=`, in the order of the text."""
        return self._loads.get(steps, ())

    def stores(self, steps: Steps) -> Sequence[ast.AST]:
        """What binds it: statements, targets of loops, and conditions both of whose branches do."""
        return self._stores.get(steps, ())

    def reached(self, steps: Steps, bound: ast.AST, *, again: bool = False) -> Iterator[ast.expr]:
        """The reads of a variable or attribute that may find what a statement bound.

        With `again` the text as a whole runs again, and finds what it left there.
        """
        stores = self.stores(steps)
        beside = _block(self._parents.get(bound), bound)
        behind = stores[bisect_right(stores, end_of(bound), key=end_of) :]
        until = next((end_of(one) for one in behind if one in beside and _is_simple(one)), None)
        for load in self.loads(steps):
            at = begin_of(load)
            if at < end_of(bound):
                if (again or self.shares_loop(bound, load)) and not self._is_killed(bound, load, stores):
                    yield load
            elif until is not None and at > until and not self._is_in_other_branch(bound, load):
                return
            elif not self._is_killed(bound, load, behind):
                yield load

    def _is_in_other_branch(self, bound: ast.AST, load: ast.AST) -> bool:
        return isinstance(self._parents.get(bound), ast.If) and self._parents[bound] in self.way(load)

    def _is_killed(self, bound: ast.AST, read: ast.AST, stores: Sequence[ast.AST]) -> bool:
        """Whether a variable is surely bound anew between a binding and a read of it, maybe in the next round."""
        before, after, own = end_of(bound), begin_of(read), {bound, *self.way(bound)}
        if before <= after:
            between = itertools.takewhile(lambda one: end_of(one) <= after, stores)
            return any(before < end_of(one) and one not in own and self.is_sure(one, read) for one in between)
        loop = next((one for one in self.loops(bound) if one in self.loops(read)), None)
        next_one = bisect_right(stores, before, key=end_of)
        return any(
            one not in own
            and (end_of(one) <= after or end_of(one) > before)
            and (loop is None or loop in self.loops(one))
            and self.is_sure(one, read)
            for one in (*stores[next_one:], *stores[:next_one])  # most are bound anew soon
        )

    def excludes(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether two nodes stand in different branches of one condition."""
        inner, outer = [one, *self.way(one)], [other, *self.way(other)]
        beside = {*outer}
        common = next((node for node in inner if node in beside), None)
        if not isinstance(common, (ast.If, ast.IfExp)):
            return False
        left, right = _branch(common, inner), _branch(common, outer)
        return left != right and "test" not in (left, right)

    def is_sure(self, node: ast.AST, beside: ast.AST) -> bool:
        """Whether something runs whenever what is beside it does: no condition is around it alone."""
        others = {node, beside, *self.way(beside)}
        return not any(isinstance(one, _BRANCHING) for one in self.way(node) if one not in others)

    def precedes(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether something has surely run before something else begins, in one round of the loops around both."""
        return end_of(one) <= begin_of(other) and self.is_sure(one, other)

    def is_bound_later(self, read: ast.AST, value: ast.AST) -> bool:
        """Whether what is read somewhere is bound to a value, or to what that is a part of, only behind it."""
        bound = next((one for one in self.way(value) if isinstance(one, (ast.Assign, ast.AnnAssign))), None)
        is_same = bound is not None and isinstance(read, ast.expr) and bound in self.stores(steps_of(read))
        return bound is not None and is_same and end_of(read) <= begin_of(bound) and not self.shares_loop(read, bound)

    def any_between(self, one: ast.AST, nodes: Sequence[ast.AST], other: ast.AST) -> bool:
        """Whether any of some nodes stands between two in the text."""
        return any(end_of(one) <= begin_of(node) and end_of(node) <= begin_of(other) for node in nodes)

    def lies_between(self, bound: ast.AST, run: ast.AST, read: ast.AST, *, again: bool) -> bool:
        """Whether a run surely comes after a binding and before a read of what it bound; `again` as `outlived` says."""
        at, begin, time = end_of(run), begin_of(read), end_of(bound)
        if time <= begin:
            surely = time < at <= begin and self.is_sure(run, read) and not self.excludes(run, read)
            return surely or self._comes_in_later_rounds(bound, run, read)
        around = self.shares_loop(bound, read)
        if not (again or around) or (around and not self.shares_loop(bound, run)):
            return False
        return (at <= begin or at > time) and self.is_sure(run, read) and not self.excludes(run, read)

    def _comes_in_later_rounds(self, bound: ast.AST, run: ast.AST, read: ast.AST) -> bool:
        """Whether a loop runs something in each round, and binds what is read behind it only in some: the best one."""
        loop = next((one for one in self.loops(bound) if one in self.loops(run)), None)
        if loop is None or loop in self.way(read) or self.is_sure(bound, run):
            return False
        inside = [*itertools.takewhile(lambda one: one is not loop, (bound, *self.way(bound)))]
        rounds = {one.id for one in walk(getattr(loop, "target", loop)) if isinstance(one, ast.Name)}
        asked = (part for one in inside if isinstance(one, ast.If) for part in walk(one.test))
        if any(isinstance(one, ast.Name) and one.id in rounds for one in asked):
            return False  # it may choose the last round
        blocks = (_block(self._parents[one], one) for one in inside)
        return not any(isinstance(one, _LEAVING) for block in blocks for one in block)

    def shares_loop(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether one loop runs both in each round."""
        return not {*self.loops(one)}.isdisjoint(self.loops(other))


def _is_each_round(loop: Loop, part: ast.AST) -> bool:
    """Whether each round of a loop runs a part of it: the test of a `while`, what a `for` binds, the body."""
    return part in loop.body or part is (loop.test if isinstance(loop, ast.While) else loop.target)


def _is_changed(around: ast.AST, target: ast.AST) -> bool:
    """Whether a statement changes what a variable holds: of tensors and lists the object stays what it is."""
    return isinstance(around, ast.AugAssign) and around.target is target


def _reveals(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in _REVEALING


def _holds_any(part: Sequence[ast.stmt], stores: Sequence[ast.AST]) -> bool:
    return any(one in stores for one in part)


def _block(around: ast.AST | None, node: ast.AST) -> Sequence[ast.AST]:
    """The statements among which one stands."""
    blocks: list[list[ast.AST]] = [getattr(around, name, []) for name in ("body", "orelse", "finalbody")]
    return next((block for block in blocks if isinstance(around, _WITH_BLOCKS) and node in block), ())


def _is_simple(node: ast.AST) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign, ast.If))


def _branch(condition: ast.If | ast.IfExp, way: list[ast.AST]) -> str:
    """The branch of a condition on whose way something lies."""
    at = way.index(condition)
    inside = way[at - 1] if at else None
    for name in ("body", "orelse"):
        held: object = getattr(condition, name)
        if inside is held or (isinstance(held, list) and inside in held):
            return name
    return "test"


def begin_of(node: ast.AST) -> _Position:
    """Where a node begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> _Position:
    """Where a node ends."""
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0
