"""What the text of a function tells of the dtypes of its tensors: which are named, which surely are floating-point."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.targets import last_name
from nonstrict.fixes.code.names import meaning
from nonstrict.knowledge.operators import FLOATS
from nonstrict.program.contracts.marks.tensor_forms import dtype_name
from nonstrict.program.domain.values import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.tensors.kinds import Kinds

#: Operators whose result has the dtype of what they are called on, alone or along a dimension.
_KEPT = frozenset({"max", "min", "permute"})
_SAME = frozenset({"T", "mT", "data", "H", "mH"})
_MAX_DEPTH = 8


class Dtypes:
    """Answers for the expressions of one function."""

    def __init__(self, document: Document, kinds: Kinds) -> None:
        self._document = document
        self._names = meaning(document)
        self._kinds = kinds

    def named(self, node: ast.expr, depth: int = 0) -> str:
        """The dtype that an expression surely has because the text names it, "" where it does not."""
        if depth > _MAX_DEPTH:
            return ""
        if isinstance(node, ast.Name):
            given = self._kinds.is_parameter(node.id)
            found = {self.named(value, depth + 1) for value in self._kinds.assigned(node.id) or ()}
            return next(iter(found)) if len(found) == 1 and not given else ""
        if isinstance(node, ast.Compare) or self._kinds.is_boolean(node):
            return "bool"
        if isinstance(node, ast.BinOp):
            return self._of_operator(node, depth)
        if isinstance(node, (ast.UnaryOp, ast.Subscript)):
            return self.named(node.operand if isinstance(node, ast.UnaryOp) else node.value, depth + 1)
        if isinstance(node, ast.Attribute) and node.attr in _SAME:
            return self.named(node.value, depth + 1)
        return self._of_call(node, depth) if isinstance(node, ast.Call) else ""

    def is_floating(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor or number surely is a floating-point one."""
        if depth > _MAX_DEPTH:
            return False
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        if self.named(node, depth) in FLOATS:
            return True
        if isinstance(node, ast.Name):
            return self._is_floating_name(node.id, depth)
        if isinstance(node, ast.BinOp):
            either = any(self.is_floating(side, depth + 1) for side in (node.left, node.right))
            return isinstance(node.op, ast.Div) or either
        if isinstance(node, (ast.UnaryOp, ast.Subscript)):
            return self.is_floating(node.operand if isinstance(node, ast.UnaryOp) else node.value, depth + 1)
        if isinstance(node, ast.Attribute):
            return node.attr in _SAME and self.is_floating(node.value, depth + 1)
        return isinstance(node, ast.Call) and self._gives_floating(node, depth)

    def _is_floating_name(self, name: str, depth: int) -> bool:
        values = self._kinds.assigned(name)
        if values is None or not all(self.is_floating(value, depth + 1) for value in values):
            return False
        given = self._kinds.argument(name)
        if given is not None:
            return all(one.flags & Flag.FLOATING for one in given.alternatives())
        return bool(values) and not self._kinds.is_parameter(name)

    def _gives_floating(self, call: ast.Call, depth: int) -> bool:
        operator, dtype = called(self._names, call).operator, _dtype(call)
        if dtype is not None or operator is None:
            return False  # of a name that is not known
        given, named = self._given(call)
        if operator.gives_floating(len(given), named):
            return True
        if operator.promotes:
            return any(self.is_floating(one, depth + 1) for one in given)
        kept = operator.result_dtype("float32", len(given), named) == "float32" or last_name(call) in _KEPT
        return kept and bool(given) and self.is_floating(given[0], depth + 1)

    def _given(self, call: ast.Call) -> tuple[list[ast.expr], list[str]]:
        """The operands of an operator, the one that a method is called on among them, and its keywords."""
        function = called(self._names, call)
        operand = [function.operand] if function.operand is not None else []
        return [*operand, *function.given], [keyword.arg or "**" for keyword in call.keywords]

    def _of_operator(self, node: ast.BinOp, depth: int) -> str:
        """Arithmetic with a number keeps the dtype of a tensor that holds numbers of its category."""
        left, right = self.named(node.left, depth + 1), self.named(node.right, depth + 1)
        for tensor, other in ((left, node.right), (right, node.left)):
            if tensor and isinstance(other, ast.Constant):
                return _with_number(tensor, other, divides=isinstance(node.op, ast.Div))
        return left if left == right and (left in FLOATS or not isinstance(node.op, ast.Div)) else ""

    def _of_call(self, call: ast.Call, depth: int) -> str:
        name, dtype = last_name(call), _dtype(call)
        if dtype is not None:
            return dtype_name(self._names, dtype)
        if name in ("to", "type", "view"):
            return next((told for one in call.args if (told := dtype_name(self._names, one))), "")
        operator, (given, named) = called(self._names, call).operator, self._given(call)
        told = self.named(given[0], depth + 1) if given else ""
        if operator is None or name in _KEPT:
            return told if name in _KEPT else ""
        if operator.promotes:
            return self._promoted(told, [*given[1:], *(keyword.value for keyword in call.keywords)])
        found = operator.result_dtype(told, len(given), named)
        return "" if found == "default" else found

    def _promoted(self, tensor: str, others: Sequence[ast.expr]) -> str:
        """The dtype of what is computed of a tensor and of numbers."""
        for other in others:
            tensor = _with_number(tensor, other) if tensor and isinstance(other, ast.Constant) else ""
        return tensor


def _with_number(tensor: str, number: ast.Constant, *, divides: bool = False) -> str:
    """The dtype of arithmetic with a number of Python, "" where it is another one than that of the tensor."""
    whole = type(number.value) is int and not divides and tensor != "bool"
    return tensor if tensor in FLOATS or whole else ""


def _dtype(call: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
