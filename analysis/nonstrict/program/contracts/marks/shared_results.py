"""Results of a function that share memory with one another, as far as its text tells: `y, y[0]`, `x.chunk(2)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope
from nonstrict.knowledge.operators import is_view_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.facts.library_calls import Names
    from nonstrict.knowledge.operators import Operator

_INDICES = (ast.Constant, ast.Slice, ast.UnaryOp)


def sharing(function: ast.FunctionDef, names: Names, is_tensor: Callable[[ast.expr], bool]) -> Iterator[ast.expr]:
    """The returned expressions that share memory with another result, or hold results that share theirs.

    `names` tells what names in the function stand for, `is_tensor` whether an expression of it is one.

    Arguments and their views are left out: a result that shares memory with these is another matter.
    """
    memory = _Memory(function, names, is_tensor)
    for node in own_scope(function):
        if isinstance(node, ast.Return) and node.value is not None:
            if isinstance(node.value, (ast.Tuple, ast.List)):
                yield from memory.shared(node.value.elts)
            elif memory.is_cut(node.value):
                yield node.value


class _Memory:
    """What the expressions of one function are made of: names are followed that are bound once."""

    def __init__(self, function: ast.FunctionDef, names: Names, is_tensor: Callable[[ast.expr], bool]) -> None:
        self._names = names
        self._is_tensor = is_tensor
        self._bound = use_def(function)

    def shared(self, results: list[ast.expr]) -> Iterator[ast.expr]:
        """Those of several results whose memory an earlier one has."""
        seen: set[object] = set()
        for result in results:
            memory = self._of(result)
            if memory is not None and memory in seen:
                yield result
            seen.add(memory)

    def is_cut(self, node: ast.expr, followed: frozenset[str] = frozenset()) -> bool:
        """Whether an expression holds the pieces of one tensor: `list(y.unbind(0))`."""
        if isinstance(node, ast.Name):
            value = self._value(node)
            return value is not None and node.id not in followed and self.is_cut(value, followed | {node.id})
        if not isinstance(node, ast.Call):
            return False
        if self._names(node.func) in ("builtins.list", "builtins.tuple") and len(node.args) == 1:
            return self.is_cut(node.args[0], followed)
        operator, _ = self._called(node)
        single = any(isinstance(one, ast.Constant) and one.value == 1 for one in node.args)
        return operator is not None and operator.cuts and not single

    def _of(self, node: ast.expr, followed: frozenset[str] = frozenset()) -> object | None:
        """What stands for the memory of a tensor; None where nothing is known."""
        if isinstance(node, ast.Name):
            return self._of_name(node, followed)
        if isinstance(node, ast.Subscript):
            base = self._value(node.value) if isinstance(node.value, ast.Name) else node.value
            if base is not None and self.is_cut(base):
                return base
            plain = all(isinstance(one, _INDICES) for one in _indices(node.slice))
            return self._of(node.value, followed) if plain and self._is_tensor(node.value) else None
        if isinstance(node, ast.Attribute) and is_view_attribute(node.attr):
            return self._of(node.value, followed)
        if isinstance(node, ast.Call):
            operator, operand = self._called(node)
            views = operator is not None and operator.views and operator.returns == "tensor"
            kept = views and operator is not None and not (operator.casts or operator.lays_out)
            return self._of(operand, followed) if kept and operand is not None else None
        return None

    def _of_name(self, node: ast.Name, followed: frozenset[str]) -> object | None:
        only = self._bound.only(node.id)
        if only is None or only.value is None or node.id in followed:
            return None
        if only.part is not None:
            return only.value if self.is_cut(only.value) else node.id
        return self._of(only.value, followed | {node.id}) or node.id

    def _value(self, node: ast.Name) -> ast.expr | None:
        return self._bound.value(node.id)

    def _called(self, node: ast.Call) -> tuple[Operator | None, ast.expr | None]:
        """The operator of torch that is called, and what it is called on."""
        call = called(self._names, node)
        return call.operator, call.operand


def _indices(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]
