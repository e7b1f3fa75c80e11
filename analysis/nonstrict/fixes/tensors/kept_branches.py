"""A branch that a size or the data of a tensor decides becomes `torch.cond`, which keeps both sides in the graph.

Measured on torch 2.13.0: a predicate of sizes stays symbolic if it is one comparison; one of data is a tensor with one
element. Both sides have to give new tensors of one shape and dtype, and get the tensors that they read as operands.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.names import dotted, meaning, spelled
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.code.shapes import Shapes
from nonstrict.fixes.tensors.branches import branch_of, choice_of, tensor_test
from nonstrict.fixes.tensors.kinds import Kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.tensors.branches import Choice

_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SIZES = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_FLOAT = frozenset({"float"})


def keep_by_size(context: Context) -> Iterator[Fix]:
    """`if x.shape[0] > 4: return a` ... `return b`, `a if x.shape[0] > 4 else b` and `if x.shape[0] > 4: y = a`."""
    document = context.document
    node = document.at(context.finding.span, ast.Compare) if document is not None else None
    branch = branch_of(document, node) if document is not None and node is not None else None
    if document is None or node is None or branch is None or branch.test is not node or not _is_symbolic(context):
        return
    if _compares_sizes(node) and is_pure(document, node):
        yield from _kept(context, document, branch, document.text(node))


def keep_by_data(context: Context) -> Iterator[Fix]:
    """`if x.sum() > 0: return a` ... `return b`, `a if x.sum() > 0 else b` and `if x.sum() > 0: y = a`."""
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    branch = branch_of(document, node) if document is not None and node is not None else None
    function = document.function(node) if document is not None and node is not None else None
    if document is None or branch is None or function is None or not is_pure(document, branch.test):
        return
    test = tensor_test(document, Kinds(context, document, function), branch.test)
    if test is not None:
        yield from _kept(context, document, branch, test)


def _kept(context: Context, document: Document, branch: ast.If | ast.IfExp, test: str) -> Iterator[Fix]:
    function, choice = document.function(branch), choice_of(document, branch)
    if choice is None or not isinstance(function, ast.FunctionDef):
        return
    kinds = Kinds(context, document, function)
    if not all(_is_new(kinds, side) and is_pure(document, side) for side in (choice.chosen, choice.other)):
        return
    torch = spelled(document, "torch")
    operands = _tensors_of(document, kinds, choice)
    if not operands or not _are_alike(document, Shapes(document, function, frozenset(operands), {}), choice):
        return
    edit = _written(document, choice, test, f"{torch.text}.cond", operands)
    if edit is not None:
        yield Fix("Keep both branches with `torch.cond`", Applicability.UNSAFE, (edit, *torch.edits))


def _tensors_of(document: Document, kinds: Kinds, choice: Choice) -> list[str]:
    """The tensors that the sides read; none where they read anything else but modules and numbers of the file.

    Measured on torch 2.13.0: a `float` that is an argument of the marked function cannot be read from inside.
    """
    read = (one for side in (choice.chosen, choice.other) for one in ast.walk(side) if isinstance(one, ast.Name))
    named = {one.id: one for one in read if not dotted(document, one) and not kinds.is_constant(one)}
    return sorted(named) if all(map(kinds.is_tensor, named.values())) else []


def _are_alike(document: Document, shapes: Shapes, choice: Choice) -> bool:
    """Whether both sides have one shape and dtype: of the same tensor, or of arithmetic with the same tensors."""
    parts, others = _operands(document, choice.chosen), _operands(document, choice.other)
    if parts is not None and others is not None:
        return parts == others
    like = shapes.like(choice.chosen)
    return like is not None and like == shapes.like(choice.other)


def _operands(document: Document, node: ast.expr) -> frozenset[str] | None:
    """What decides the shape and dtype of arithmetic: its variables, and `float` where integers become such numbers."""
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    if isinstance(node, ast.Constant):
        kind = type(node.value).__name__
        return {"int": frozenset[str](), "float": _FLOAT}.get(kind)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _operands(document, node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        both = (_operands(document, node.left), _operands(document, node.right))
        return _together(both, _FLOAT if isinstance(node.op, ast.Div) else frozenset[str]())
    return _operands_of_call(document, node) if isinstance(node, ast.Call) else None


def _operands_of_call(document: Document, call: ast.Call) -> frozenset[str] | None:
    """The same of an operator that keeps the shape of its only operand."""
    given = call.args if dotted(document, call.func) or not isinstance(call.func, ast.Attribute) else [call.func.value]
    settings = [*call.args, *(word.value for word in call.keywords if word.arg in ("dim", "approximate"))]
    settings = [one for one in settings if one not in given]
    if len(given) < 1 or not all(isinstance(one, (ast.Constant, ast.UnaryOp)) for one in [*settings, *given[1:]]):
        return None
    operator = called(meaning(document), call).operator
    if len(call.keywords) > len(settings) or operator is None or not operator.keeps_shape:
        return None
    floating = operator.gives_floating()
    if operator.result_dtype("float32") != "float32" or not (floating or operator.result_dtype("int64") == "int64"):
        return None
    return _together((_operands(document, given[0]),), _FLOAT if floating else frozenset[str]())


def _together(parts: tuple[frozenset[str] | None, ...], more: frozenset[str]) -> frozenset[str] | None:
    known = [part for part in parts if part is not None]
    return more.union(*known) if len(known) == len(parts) else None


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


def _is_new(kinds: Kinds, node: ast.expr) -> bool:
    """Whether an expression is a variable, or makes a tensor that shares nothing with others."""
    if isinstance(node, (ast.Name, ast.BinOp)):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    return isinstance(node, ast.Call) and kinds.is_new(node)


def _written(document: Document, choice: Choice, test: str, cond: str, tensors: list[str]) -> Edit | None:
    parameters = ", ".join(tensors)
    sides = [_side(document, side) for side in (choice.chosen, choice.other)]
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
