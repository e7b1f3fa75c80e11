"""What becomes of the value of an expression, as far as the text around it tells: called, asked for members, lost.

The value is followed through local names and through methods that return their object (`.eval()`, `.to(device)`). What
is handed on, returned, stored or bound in another way escapes: nobody knows what is done with it.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.running_order import order_of
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.models.members import RETURNING_MODULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.facts.texts import Text

#: What gives a condition of two values, and says nothing of them.
_IDENTITY = (ast.Is, ast.IsNot)


class Use(enum.Enum):
    """One thing that is done with a value."""

    DROPPED = "dropped"
    BOUND = "bound"
    CALLED = "called"
    MEMBER = "member"
    SET = "set"
    ITERATED = "iterated"
    ESCAPED = "escaped"


class Fate(NamedTuple):
    """One use, at a node: the call, the attribute, the name that is bound, or what lets the value escape."""

    use: Use
    node: ast.AST


def fates(text: Text, node: ast.expr, looks: Callable[[ast.Call], bool]) -> list[Fate]:
    """The uses of what an expression computes; `looks` says of a call whether it only looks at what it is given."""
    found = _Fates(text, looks)
    found.follow(node)
    return found.seen


def uses_of_name(text: Text, name: str, after: ast.AST, looks: Callable[[ast.Call], bool]) -> list[Fate]:
    """The uses of what a variable holds from a node on."""
    found = _Fates(text, looks)
    found.loads(name, after)
    return found.seen


def names_bound(seen: Sequence[Fate]) -> list[ast.Name]:
    """The names that hold the value."""
    return [one.node for one in seen if one.use is Use.BOUND and isinstance(one.node, ast.Name)]


class _Fates:
    """Collects uses."""

    def __init__(self, text: Text, looks: Callable[[ast.Call], bool]) -> None:
        self._text = text
        self._looks = looks
        self._followed: set[ast.AST] = set()
        self.seen: list[Fate] = []

    def _add(self, use: Use, node: ast.AST) -> None:
        self.seen.append(Fate(use, node))

    def follow(self, node: ast.expr) -> None:
        """Collect what is done with the value of an expression."""
        if node in self._followed:
            return
        self._followed.add(node)
        around = self._text.parents.get(node)
        if isinstance(around, ast.Attribute):
            self._member(around)
        elif isinstance(around, ast.Call):
            self._call(around, node)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self._assigned(around, node)
        elif isinstance(around, ast.Expr):
            self._add(Use.DROPPED, around)
        elif isinstance(around, (ast.IfExp, ast.BoolOp)):
            self._chosen(around, node)
        elif isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and node is around.elt:
            self._collected(around)
        elif isinstance(around, (ast.Subscript, ast.For, ast.comprehension)):
            held = around.value if isinstance(around, ast.Subscript) else around.iter
            self._add(Use.ITERATED if held is node else Use.ESCAPED, node)
        elif not _only_asks(around, node):
            self._add(Use.ESCAPED, node)

    def _member(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self._add(Use.SET, node)
            return
        call = self._text.parents.get(node)
        if isinstance(call, ast.Call) and call.func is node and node.attr in RETURNING_MODULE:
            if not isinstance(self._text.parents.get(call), ast.Expr):
                self.follow(call)
            return
        self._add(Use.MEMBER, node)

    def _call(self, call: ast.Call, node: ast.expr) -> None:
        if call.func is node:
            self._add(Use.CALLED, call)
        elif not self._looks(call):
            self._add(Use.ESCAPED, node)

    def _assigned(self, around: ast.Assign | ast.AnnAssign | ast.NamedExpr, node: ast.expr) -> None:
        for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
            if isinstance(target, ast.Name):
                self._bound(target, around)
            else:
                self._add(Use.ESCAPED, node)
        if isinstance(around, ast.NamedExpr):
            self.follow(around)

    def _chosen(self, around: ast.IfExp | ast.BoolOp, node: ast.expr) -> None:
        if isinstance(around, ast.BoolOp) or node is not around.test:
            self.follow(around)

    def _collected(self, around: ast.expr) -> None:
        dropped = isinstance(self._text.parents.get(around), ast.Expr) and not isinstance(around, ast.GeneratorExp)
        self._add(Use.DROPPED if dropped else Use.ESCAPED, around)

    def _bound(self, target: ast.Name, binding: ast.AST) -> None:
        self._add(Use.BOUND, target)
        if self._is_shared(target):
            self._add(Use.ESCAPED, target)
            return
        self.loads(target.id, binding)

    def _is_shared(self, target: ast.Name) -> bool:
        """Whether a name is no variable of the text itself: of a class, another function or the module."""
        root = self._text.root
        inner = next((one for one in self._around(target) if isinstance(one, (FunctionNode, ast.ClassDef))), None)
        if inner is not None and inner is not root:
            return True
        if isinstance(root, FunctionNode):
            scope = scope_of(root)
            return target.id in scope.global_names or target.id in scope.nonlocal_names
        return False

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while (node := self._text.parents.get(node)) is not None:  # type: ignore[assignment]
            yield node

    def loads(self, name: str, binding: ast.AST) -> None:
        """Collect what is done with a variable that a statement, or an expression in one, binds."""
        order = order_of(self._text.root)
        for load in order.reached((name,), binding):
            self.follow(load)
        for node in order.nested:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                self._read_inside(node, binding)
        if order.reveals:
            self._add(Use.ESCAPED, binding)

    def _read_inside(self, load: ast.Name, binding: ast.AST) -> None:
        """Collect what a nested definition does with a variable of the text, if it is none of its own."""
        inner = next((one for one in self._around(load) if isinstance(one, FunctionNode)), self._text.root)
        is_own = isinstance(inner, FunctionNode) and inner is not self._text.root and load.id in scope_of(inner).local
        if not is_own or inner in self._around(binding):
            self.follow(load)


def _only_asks(around: ast.AST | None, node: ast.expr) -> bool:
    """Whether a node only asks whether a value is there."""
    if isinstance(around, ast.Compare):
        return all(isinstance(one, _IDENTITY) for one in around.ops)
    if isinstance(around, (ast.If, ast.While, ast.Assert)):
        return around.test is node
    return isinstance(around, (ast.UnaryOp, ast.FormattedValue, ast.Delete))


def reads_of(text: Text, name: str, looks: Callable[[ast.Call], bool]) -> list[Fate]:
    """What a definition does with a variable of the module around it."""
    found = _Fates(text, looks)
    for node in text.parents:
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            found.seen.append(Fate(Use.ESCAPED, node))
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            found.follow(node)
    return found.seen
