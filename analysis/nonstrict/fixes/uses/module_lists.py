"""What is done with an `nn.ModuleList`: the expressions and the variables of loops that are one of its modules."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.fixes.uses.calls import Way
from nonstrict.fixes.uses.search import Search

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses

_NAMES = frozenset({"torch.nn.ModuleList", "torch.nn.modules.container.ModuleList", "torch.nn.modules.ModuleList"})
#: Methods that give a list other modules.
_CHANGING = frozenset({"append", "extend", "insert", "pop", "__setitem__", "__iadd__", "__iter__", "__getitem__"})


class Item(NamedTuple):
    """An expression that is a module of the list, or the variable of a loop over it."""

    document: Document
    node: ast.expr


class Items(Search):
    """The search for what is done with one list."""

    def __init__(self, uses: Uses, document: Document, node: ast.Call) -> None:
        super().__init__(uses, document, node)
        self.items: list[Item] = []

    def _use(self, document: Document, node: ast.expr, way: Way | None = None) -> None:
        outer = document.parent(node)
        counted = isinstance(outer, ast.Call) and outer.args == [node] and last_name(outer.func) == "enumerate"
        loop = document.parent(outer) if counted and outer is not None else outer
        self.taken.append(node)
        if isinstance(loop, (ast.For, ast.comprehension)) and loop.iter is (outer if counted else node):
            self._loop(document, loop, counted=counted)
        elif isinstance(outer, ast.Subscript) and outer.value is node and isinstance(outer.ctx, ast.Load):
            self._entry(document, outer)
        elif isinstance(outer, ast.Assign) and outer.value is node:
            self._assigned(document, outer, way or Way())
        elif not _leaves_it(outer, node):
            self._obstacle(document, node)

    def _loop(self, document: Document, loop: ast.For | ast.comprehension, *, counted: bool) -> None:
        target = loop.target
        if counted:
            target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else loop.iter
        if isinstance(target, ast.Name):
            self.items.append(Item(document, target))
        else:
            self._obstacle(document, loop.iter)

    def _entry(self, document: Document, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Slice):
            self._use(document, node)
        else:
            self.items.append(Item(document, node))


def _leaves_it(outer: ast.AST | None, node: ast.expr) -> bool:
    """Whether what is around a list asks it for something but its modules."""
    if isinstance(outer, ast.Attribute):
        return outer.attr not in _CHANGING
    return isinstance(outer, ast.Call) and node in outer.args and last_name(outer.func) in ("len", "isinstance")


def list_around(uses: Uses, document: Document, node: ast.expr) -> tuple[ast.Call, list[ast.expr]] | None:
    """The `nn.ModuleList` that an expression is put into where it is made, and all that is put into it."""
    outer = document.parent(node)
    if not isinstance(outer, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)):
        return None
    call = document.parent(outer)
    if not isinstance(call, ast.Call) or call.args != [outer] or call.keywords:
        return None
    if uses.scopes(document).dotted(call.func) not in _NAMES:
        return None
    return call, [outer.elt] if isinstance(outer, (ast.ListComp, ast.GeneratorExp)) else outer.elts
