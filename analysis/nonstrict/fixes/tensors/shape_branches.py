"""A branch that a size decides becomes `torch.cond`, which keeps both sides in a graph with symbolic sizes.

Measured on torch 2.13.0: the predicate stays symbolic if it is one comparison of sizes. Both sides have to give new
tensors of one shape and dtype, and get the tensors that they read as operands.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.code.shapes import Shapes
from nonstrict.fixes.tensors.branches import branch_of, choice_of
from nonstrict.fixes.tensors.kinds import Kinds
from nonstrict.fixes.uses.terms import names_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.tensors.branches import Choice

_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SIZES = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
#: Functions and methods whose result shares nothing with their operand.
_MAKE = frozenset(
    {
        *("abs", "add", "clone", "cos", "exp", "gelu", "log", "log1p", "matmul", "mul", "neg", "pow", "reciprocal"),
        *("relu", "rsqrt", "sigmoid", "silu", "sin", "softmax", "sqrt", "square", "sub", "sum", "tanh"),
    }
)


def keep_both(context: Context) -> Iterator[Fix]:
    """`if x.shape[0] > 4: return a` ... `return b`, `a if x.shape[0] > 4 else b` and `if x.shape[0] > 4: y = a`."""
    document = context.document
    node = document.at(context.finding.span, ast.Compare) if document is not None else None
    function = document.function(node) if document is not None and node is not None else None
    branch = branch_of(document, node) if document is not None and node is not None else None
    if document is None or node is None or branch is None or branch.test is not node or not _is_symbolic(context):
        return
    if not isinstance(function, ast.FunctionDef) or not _compares_sizes(node) or not is_pure(document, node):
        return
    choice = choice_of(document, branch)
    kinds = Kinds(context, document, function)
    if choice is None or not all(_is_new(side) and is_pure(document, side) for side in (choice.chosen, choice.other)):
        return
    operands = sorted(names_in(choice.chosen) | names_in(choice.other))
    torch = spelled(document, "torch")
    tensors = [name for name in operands if name != torch.text]
    read = {
        one.id: one for side in (choice.chosen, choice.other) for one in ast.walk(side) if isinstance(one, ast.Name)
    }
    if not tensors or not all(kinds.is_tensor(read[name]) for name in tensors):
        return
    if not _are_alike(Shapes(document, function, frozenset(tensors), {}), choice):
        return
    edit = _written(document, choice, f"{torch.text}.cond", tensors)
    if edit is not None:
        yield Fix("Keep both branches with `torch.cond`", Applicability.UNSAFE, (edit, *torch.edits))


def _are_alike(shapes: Shapes, choice: Choice) -> bool:
    """Whether both sides have one shape and dtype: of the same tensor, or of arithmetic with the same tensors."""
    parts = _operands(choice.chosen)
    if parts is not None and parts == _operands(choice.other):
        return True
    like = shapes.like(choice.chosen)
    return like is not None and like == shapes.like(choice.other)


def _operands(node: ast.expr) -> frozenset[str] | None:
    """What decides the shape and dtype of arithmetic: its variables, and `float` if such a number takes part."""
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    if isinstance(node, ast.Constant):
        kind = type(node.value).__name__
        return {"int": frozenset[str](), "float": frozenset({"float"})}.get(kind)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _operands(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        left, right = _operands(node.left), _operands(node.right)
        return left | right if left is not None and right is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        return _operands(node.func.value) if node.func.attr in ("relu", "clone", "neg") else None
    return None


def _is_symbolic(context: Context) -> bool:
    """Whether sizes may be symbolic while the function is traced."""
    if context.body.marker == "nonstrict":
        return True
    node = context.body.mark.node
    given = node.keywords if context.body.api == "make_fx" and isinstance(node, ast.Call) else []
    modes = [one.value for one in given if one.arg == "tracing_mode"]
    return any(isinstance(mode, ast.Constant) and mode.value == "symbolic" for mode in modes)


def _compares_sizes(node: ast.Compare) -> bool:
    """Whether a comparison of symbolic sizes gives a symbolic truth value."""
    return (
        len(node.ops) == 1 and isinstance(node.ops[0], _ORDERS) and all(map(_is_size, (node.left, *node.comparators)))
    )


def _is_size(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _SIZES) and _is_size(node.left) and _is_size(node.right)
    if isinstance(node, ast.Subscript):
        single = isinstance(node.slice, (ast.Constant, ast.UnaryOp))
        return single and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return (node.func.attr == "size" and len(node.args) == 1) or node.func.attr == "numel"


def _is_new(node: ast.expr) -> bool:
    """Whether an expression is a variable, or makes a tensor that shares nothing with others."""
    if isinstance(node, (ast.Name, ast.BinOp)):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    return isinstance(node, ast.Call) and last_name(node) in _MAKE


def _written(document: Document, choice: Choice, cond: str, tensors: list[str]) -> Edit | None:
    parameters = ", ".join(tensors)
    sides = [_side(document, side) for side in (choice.chosen, choice.other)]
    test = document.text(choice.test)
    start, end = document.bounds(choice.taken[0])[0], document.bounds(choice.taken[-1])[1]
    if any("\n" in text for text in (test, *sides)) or "#" in document.code[start:end]:
        return None
    operands = f"({parameters},)" if len(tensors) == 1 else f"({parameters})"
    text = f"{cond}({test}, lambda {parameters}: {sides[0]}, lambda {parameters}: {sides[1]}, {operands})"
    return Edit(document.range(start, end), choice.before + text)


def _side(document: Document, node: ast.expr) -> str:
    """One side; a variable as a copy, since operands must not be returned as they are."""
    text = document.text(node)
    return f"{text}.clone()" if isinstance(node, ast.Name) else text
