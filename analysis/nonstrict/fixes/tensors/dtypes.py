"""What the text of a function tells of the dtypes of its tensors: which are named, which surely are floating-point."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.fixes.code.names import dotted, meaning
from nonstrict.program.dtypes import FLOATING_RESULTS
from nonstrict.program.marks.form_tables import FLOATS
from nonstrict.program.marks.tensor_forms import CASTS, dtype_name
from nonstrict.program.values import Flag

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.tensors.kinds import Kinds

_FLOATING = FLOATING_RESULTS | {
    *(
        "acos",
        "asin",
        "atan",
        "cos",
        "cosh",
        "div",
        "erf",
        "expm1",
        "gelu",
        "log",
        "log10",
        "log1p",
        "log2",
        "log_softmax",
    ),
    *("logsumexp", "norm", "reciprocal", "rsqrt", "silu", "sin", "sinh", "softplus", "sqrt", "tan", "true_divide"),
}
_POSITIONS = frozenset({"argmax", "argmin", "argsort", "count_nonzero", "nonzero", "bincount", "searchsorted"})
#: Operators whose result has the dtype of what they are called on.
_KEPT = frozenset(
    {
        *(
            "abs",
            "amax",
            "amin",
            "clamp",
            "clip",
            "clone",
            "contiguous",
            "detach",
            "flatten",
            "flip",
            "max",
            "min",
            "neg",
        ),
        *("permute", "relu", "reshape", "squeeze", "sum", "t", "transpose", "unsqueeze", "cumsum", "prod"),
        *("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "full_like", "masked_fill", "expand"),
    }
)
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
        name, dtype = last_name(call), _dtype(call)
        if dtype is not None:
            return False  # of a name that is not known
        operand = self._operand(call)
        kept = name in _KEPT and operand is not None and self.is_floating(operand, depth + 1)
        rounded = any(keyword.arg == "rounding_mode" for keyword in call.keywords)
        return kept or (name in _FLOATING and not rounded)

    def _of_operator(self, node: ast.BinOp, depth: int) -> str:
        """Arithmetic with a number keeps the dtype of a tensor that holds numbers of its category."""
        left, right = self.named(node.left, depth + 1), self.named(node.right, depth + 1)
        for tensor, other in ((left, node.right), (right, node.left)):
            if tensor and isinstance(other, ast.Constant):
                whole = type(other.value) is int and not isinstance(node.op, ast.Div) and tensor != "bool"
                return tensor if tensor in FLOATS or whole else ""
        return left if left == right and (left in FLOATS or not isinstance(node.op, ast.Div)) else ""

    def _of_call(self, call: ast.Call, depth: int) -> str:
        name, dtype = last_name(call), _dtype(call)
        if dtype is not None:
            return dtype_name(self._names, dtype)
        if name in CASTS and not call.args:
            return CASTS[name]
        if name in _POSITIONS:
            return "int64"
        operand = self._operand(call)
        if name in ("to", "type", "view"):
            return next((told for one in call.args if (told := dtype_name(self._names, one))), "")
        told = self.named(operand, depth + 1) if operand is not None and name in _KEPT else ""
        return "int64" if name in ("sum", "prod", "cumsum") and told not in ("", *FLOATS) else told

    def _operand(self, call: ast.Call) -> ast.expr | None:
        if dotted(self._document, call.func) or not isinstance(call.func, ast.Attribute):
            return call.args[0] if call.args else None
        return call.func.value


def _dtype(call: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
