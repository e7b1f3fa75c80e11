"""What expressions of a function are: tensors, those without dimensions, numbers, as the interpreter recorded it.

A fix changes a function for all its callers, and a marked function is only one of those of a helper: what it passes
counts where annotations, use or all seen calls say the same of the parameter.
"""

from __future__ import annotations

import ast
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameters_of, scope_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope, walk
from nonstrict.fixes.code.names import dotted
from nonstrict.knowledge.operators import Operator, tensor_method, torch_function
from nonstrict.program.discovery import callers
from nonstrict.program.domain.values import UNKNOWN, Flag, Kind, join
from nonstrict.program.objects import parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.values import Value

#: What `where` chooses by, and from: with less it selects.
_CHOICE = 3
_SCALARS = frozenset({Kind.NUMBER, Kind.BOOL})


class Kinds:
    """Answers for the expressions of one function."""

    def __init__(self, context: Context, document: Document, function: FunctionNode) -> None:
        self._machine = context.machine
        self._document = document
        self.function = function
        self._known = context.body.held
        self._parameters = {one.arg: one for one in parameters_of(function.args)}
        self._definition = self._known.function(document.span(function))
        self._is_marked = self._definition is context.body.mark.function

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor."""
        return self._is(node, lambda one: one.is_tensor)

    def is_number(self, node: ast.expr) -> bool:
        """Whether an expression is a Python number."""
        return self._is(node, lambda one: one.kind in _SCALARS)

    @property
    def arguments(self) -> Mapping[str, Value]:
        """What the parameters hold: of those of other functions than the marked one nothing is known."""
        return {name: self._held(one) if self._is_marked else UNKNOWN for name, one in self._parameters.items()}

    def is_constant(self, name: ast.Name) -> bool:
        """Whether a variable is a number of the module."""
        scope = scope_of(self.function)
        return name.id not in scope.local - scope.global_names and self.is_number(name)

    def is_scalar(self, node: ast.expr) -> bool:
        """Whether an expression is a number, or a tensor without dimensions."""
        return self._is(node, lambda one: one.kind in _SCALARS or bool(one.flags & Flag.SCALAR))

    def is_new(self, node: ast.expr) -> bool:
        """Whether an expression makes a tensor that shares nothing with one that code can name."""
        if isinstance(node, (ast.BinOp, ast.Compare)):
            return True
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.UAdd) or self.is_new(node.operand)
        operator = self._operator(node)
        if operator is None or not isinstance(node, ast.Call) or operator.mutates or operator.returns != "tensor":
            return False
        return not operator.views or any(map(self.is_new, self._operands(node)[:1]))

    def is_boolean(self, node: ast.expr) -> bool:
        """Whether a tensor holds truth values."""
        return self._is(node, lambda one: bool(one.flags & Flag.BOOLEAN))

    def shape(self, node: ast.expr) -> frozenset[str] | None:
        """The variables whose shapes, broadcast, are that of an expression; None if that is not known."""
        if self.is_scalar(node):
            return frozenset()
        if isinstance(node, ast.Name):
            return frozenset({node.id}) if self.is_tensor(node) else None
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            return _union([self.shape(node.left), self.shape(node.right)])
        if isinstance(node, ast.UnaryOp):
            return self.shape(node.operand)
        if isinstance(node, ast.Compare):
            return _union([self.shape(side) for side in (node.left, *node.comparators)])
        return self._shape_of_call(node) if isinstance(node, ast.Call) else None

    def _shape_of_call(self, node: ast.Call) -> frozenset[str] | None:
        operator, operands = self._operator(node), self._operands(node)
        if operator is None or operator.returns != "tensor" or not _is_elementwise(operator, node, operands):
            return None
        if operator.keeps_shape:
            return self.shape(operands[0]) if operands else None
        return _union([self.shape(one) for one in operands if not _is_setting(self._document, one)])

    # -- parts ----------------------------------------------------------------------------------------------------

    def _operator(self, node: ast.expr) -> Operator | None:
        """The operator of torch that a call is."""
        if not isinstance(node, ast.Call):
            return None
        name = dotted(self._document, node.func)
        if name:
            return torch_function(name)
        if isinstance(node.func, ast.Attribute) and self.is_tensor(node.func.value):
            return tensor_method(node.func.attr)
        return None

    def _operands(self, node: ast.Call) -> list[ast.expr]:
        """The positional operands of an operator, what a method is called on among them."""
        own = [] if dotted(self._document, node.func) or not isinstance(node.func, ast.Attribute) else [node.func.value]
        return [*own, *node.args]

    def _is(self, node: ast.expr, test: Callable[[Value], bool]) -> bool:
        """Whether whatever an expression holds passes a test, whoever calls the function."""
        return _passes(self._held(node), test) and (
            self._is_marked
            or all(
                _passes(self._promised.get(name, UNKNOWN), test)
                for name in self._behind(node)
                if name in self._parameters and _passes(self._held(self._parameters[name]), test)
            )
        )

    def _held(self, node: ast.expr | ast.arg) -> Value:
        """What an expression holds; what a variable is set to in other places too, where it is set in this one."""
        nodes: list[ast.AST] = [node]
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            named = (one for one in own_scope(self.function) if isinstance(one, ast.Name) and one.id == node.id)
            nodes = [one for one in (*named, self._parameters.get(node.id)) if one is not None]
        found = (self._known.at(self._document.span(one)) for one in nodes)
        return reduce(join, (one for one in found if one is not None), None) or UNKNOWN

    def _behind(self, node: ast.expr) -> set[str]:
        """The names that an expression is made of, and those that these are made of."""
        bound, pending, names = use_def(self.function), [node], set[str]()
        while pending:
            new = {one.id for one in walk(pending.pop()) if isinstance(one, ast.Name)} - names
            names |= new
            pending += (one.value for name in new for one in bound.every(name) if one.value is not None)
        return names

    @cached_property
    def _promised(self) -> dict[str, Value]:
        """What the parameters hold as far as annotations, all seen calls, defaults and use tell."""
        function, machine = self._definition, self._machine
        if function is None:
            return {}
        given = {name: callers.handed_to(machine, function, name) for name in self._parameters}
        seen = {name: value for name, value in given.items() if value is not None}
        return parameters.of_marked(machine.module_frame(function.module), function, seen, None)


def _passes(value: Value, test: Callable[[Value], bool]) -> bool:
    return all(map(test, value.alternatives()))


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_elementwise(operator: Operator, call: ast.Call, operands: list[ast.expr]) -> bool:
    """Whether the result has the shape of the operands."""
    return operator.pointwise or operator.keeps_shape or (_name(call) == "where" and len(operands) == _CHOICE)


def _is_setting(document: Document, node: ast.expr) -> bool:
    """Whether an argument is a dtype or device."""
    named = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return named or dotted(document, node).startswith("torch.")


def _union(shapes: list[frozenset[str] | None]) -> frozenset[str] | None:
    if any(shape is None for shape in shapes):
        return None
    return frozenset[str]().union(*(shape for shape in shapes if shape is not None))
