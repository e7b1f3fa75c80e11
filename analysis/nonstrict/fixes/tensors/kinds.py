"""What expressions of a function are, as text and arguments tell: tensors, those without dimensions, numbers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.usage import used_as
from nonstrict.facts.walk import own_scope
from nonstrict.fixes.code.names import dotted
from nonstrict.fixes.uses.calls import argument
from nonstrict.knowledge.operators import Operator, tensor_attribute, tensor_method, torch_function
from nonstrict.program.domain.values import TENSORS, UNKNOWN, Flag, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.program.domain.values import Value

#: What `where` chooses by, and from: with less it selects.
_CHOICE = 3
_SCALARS = frozenset({Kind.NUMBER, Kind.BOOL})
#: How many calls up is asked what a parameter gets.
_CALLS_UP = 4


class Kinds:
    """Answers for the expressions of one function."""

    def __init__(self, context: Context, document: Document, function: FunctionNode, depth: int = _CALLS_UP) -> None:
        self._context = context
        self._depth = depth
        self._document = document
        self.function = function
        self._uses = context.documents.uses
        self._local = scope_of(function).local - scope_of(function).global_names
        self._arguments = self._values(context)
        self._parameters = {
            one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        }
        self._open: set[tuple[str, str]] = set()

    def _values(self, context: Context) -> Mapping[str, Value]:
        marked = context.body.mark.function
        known = context.definition(marked) if marked is not None else None
        return context.body.arguments if known is not None and known[1] is self.function else {}

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor."""
        if isinstance(node, ast.Name):
            if node.id not in self._local:
                return self._global(node) in TENSORS
            return self._named(node.id, self.is_tensor, self._is_tensor_parameter)
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.is_tensor(node.operand)
        if isinstance(node, ast.Compare):
            tests = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
            sides = (node.left, *node.comparators)
            return len(node.ops) == 1 and isinstance(node.ops[0], tests) and any(map(self.is_tensor, sides))
        if isinstance(node, ast.Subscript):
            return self.is_tensor(node.value)
        if isinstance(node, ast.Attribute):
            return tensor_attribute(node.attr) == "tensor" and self.is_tensor(node.value)
        operator = self._operator(node)
        return operator is not None and operator.returns == "tensor" and not operator.mutates

    def is_number(self, node: ast.expr) -> bool:
        """Whether an expression is a Python number."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (bool, int, float)) and not isinstance(node.value, str)
        if isinstance(node, ast.Name):
            if node.id not in self._local:
                return self._global(node) in _SCALARS
            return self._named(node.id, self.is_number, self._is_number_parameter)
        if isinstance(node, ast.BinOp):
            return self.is_number(node.left) and self.is_number(node.right)
        return isinstance(node, ast.UnaryOp) and self.is_number(node.operand)

    @property
    def arguments(self) -> Mapping[str, Value]:
        """What the parameters hold: of those of other functions than the marked one nothing is known."""
        return {name: self._arguments.get(name, UNKNOWN) for name in self._parameters}

    def is_constant(self, name: ast.Name) -> bool:
        """Whether a variable is a number of the module."""
        return name.id not in self._local and self._global(name) in _SCALARS

    def is_scalar(self, node: ast.expr) -> bool:
        """Whether an expression is a number, or a tensor without dimensions."""
        if self.is_number(node):
            return True
        if isinstance(node, ast.Name):
            return self._named(node.id, self.is_scalar, lambda name: False)
        if isinstance(node, ast.BinOp):
            return self.is_scalar(node.left) and self.is_scalar(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_scalar(node.operand)
        if isinstance(node, ast.Compare):
            return all(map(self.is_scalar, (node.left, *node.comparators)))
        operator = self._operator(node)
        if operator is None or operator.returns != "tensor" or not isinstance(node, ast.Call):
            return False
        operands = self._operands(node)
        if operator.reduces and len(operands) == 1 and not any(word.arg in ("dim", "axis") for word in node.keywords):
            return True
        return bool(operands) and _is_elementwise(operator, node, operands) and all(map(self.is_scalar, operands))

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
        if isinstance(node, ast.Name):
            value = self._arguments.get(node.id)
            return value is not None and bool(value.flags & Flag.BOOLEAN)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Invert) and self.is_boolean(node.operand)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, (ast.BitAnd, ast.BitOr)) and all(map(self.is_boolean, (node.left, node.right)))
        return isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and self._is_truths(node))

    def _is_truths(self, call: ast.Call) -> bool:
        """Whether an operator gives truth values, whatever it is called on."""
        operator = self._operator_of(call)
        named = [word.arg or "**" for word in call.keywords]
        return operator is not None and operator.result_dtype("", len(self._operands(call)), named) == "bool"

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

    def _operator_of(self, call: ast.Call) -> Operator | None:
        """The operator of torch that a call is; a method is taken for one of a tensor."""
        name = dotted(self._document, call.func)
        return torch_function(name) if name else tensor_method(_name(call))

    def _operands(self, node: ast.Call) -> list[ast.expr]:
        """The positional operands of an operator, what a method is called on among them."""
        own = [] if dotted(self._document, node.func) or not isinstance(node.func, ast.Attribute) else [node.func.value]
        return [*own, *node.args]

    def _named(self, name: str, test: Callable[[ast.expr], bool], of_parameter: Callable[[str], bool]) -> bool:
        """Whether everything that a variable is set to passes a test."""
        asked = (test.__name__, name)
        if asked in self._open:
            return True  # it is itself again: nothing that speaks against it
        values = self.assigned(name)
        if values is None or (not values and name not in self._parameters):
            return False
        self._open.add(asked)
        try:
            held = name not in self._parameters or of_parameter(name)
            return held and all(test(value) for value in values)
        finally:
            self._open.discard(asked)

    def _global(self, name: ast.Name) -> Kind:
        """What a variable of the module holds."""
        return self._uses.value(self._document, name).kind

    def assigned(self, name: str) -> list[ast.expr] | None:
        """What a variable is set to; None where that is not told by plain assignments."""
        found: list[ast.expr] = []
        for node in own_scope(self.function):
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                outer = self._document.parent(node)
                if isinstance(outer, ast.Assign) and node in outer.targets:
                    found.append(outer.value)
                elif isinstance(outer, ast.AugAssign):
                    found.append(outer.target if isinstance(outer.target, ast.Attribute) else outer.value)
                else:
                    return None
        return found

    def _is_tensor_parameter(self, name: str) -> bool:
        value = self._arguments.get(name)
        if value is not None and value.kind is not Kind.UNKNOWN:
            return value.kind in TENSORS
        told = self._annotation(name).endswith("Tensor") or used_as(self.function).get(name) == "tensor"
        return told or (not self._annotation(name) and self._is_passed_tensors(name))

    def _is_passed_tensors(self, name: str) -> bool:
        """Whether all calls of the function are known, and pass a tensor for a parameter."""
        if not self._depth:
            return False
        known = self._uses.of(self._document, self.function)
        return bool(known.calls) and not known.obstacles and all(self._passes(call, name) for call in known.calls)

    def _passes(self, call: Call, name: str) -> bool:
        spread = any(isinstance(one, ast.Starred) for one in call.node.args)
        given = argument(self.function, call, name)
        if given is None or spread:
            return False
        caller = call.document.function(call.node)
        if caller is None:
            return self._uses.value(call.document, given).kind in TENSORS
        return Kinds(self._context, call.document, caller, self._depth - 1).is_tensor(given)

    def _is_number_parameter(self, name: str) -> bool:
        value = self._arguments.get(name)
        if value is not None and value.kind is not Kind.UNKNOWN:
            return value.kind in _SCALARS
        return self._annotation(name) in ("int", "float", "bool")

    def _annotation(self, name: str) -> str:
        arguments = self.function.args
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if one.arg == name and one.annotation is not None:
                return ast.unparse(one.annotation)
        return ""


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
