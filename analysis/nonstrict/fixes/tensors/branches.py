"""A branch that tensor data decides becomes `torch.where`: both sides are computed, and elements chosen.

Both sides must only compute, and be made by elementwise operators of the same tensors, so that they have one shape.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.names import dotted, spelled
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.tensors.dtypes import Dtypes
from nonstrict.fixes.tensors.kinds import Kinds
from nonstrict.fixes.tensors.scalars import tensor_text
from nonstrict.fixes.uses.terms import enclosed
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.code.names import Spelling
    from nonstrict.fixes.context import Context

#: Dtypes in which a number is more exact than in the tensor that `torch.where` makes of it.
_WIDE = frozenset({"float64", "complex128"})
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Choice(NamedTuple):
    """A branch: its test, what its sides give, and the parts of the code that it takes up."""

    test: ast.expr
    chosen: ast.expr
    other: ast.expr
    taken: tuple[ast.AST, ...]
    before: str


def choose(context: Context) -> Iterator[Fix]:
    """`if t.sum() > 0: return a` ... `return b`, `a if t.sum() > 0 else b` and `if t.sum() > 0: y = a`."""
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    function = document.function(node) if document is not None and node is not None else None
    branch = branch_of(document, node) if document is not None and node is not None else None
    if document is None or function is None or branch is None:
        return
    kinds = Kinds(context, document, function)
    choice = choice_of(document, branch)
    if choice is None or not _same_kind(document, kinds, choice):
        return
    test = tensor_test(document, kinds, choice.test)
    if test is None or not _parses(test):
        return
    spelling = spelled(document, "torch.where")
    edit = _written(document, choice, test, spelling)
    if edit is not None:
        yield Fix("Choose with `torch.where`", Applicability.UNSAFE, (edit, *spelling.edits))


def _parses(text: str) -> bool:
    try:
        tree_of(text, "eval")
    except SyntaxError:
        return False
    return True


def _written(document: Document, choice: Choice, test: str, spelling: Spelling) -> Edit | None:
    sides = [document.text(side) for side in (choice.chosen, choice.other)]
    if any("\n" in text for text in (test, *sides)):
        return None
    text = f"{choice.before}{spelling.text}({test}, {sides[0]}, {sides[1]})"
    first, last = choice.taken[0], choice.taken[-1]
    start, end = document.bounds(first)[0], document.bounds(last)[1]
    if any(line.lstrip().startswith("#") for line in document.code[start:end].split("\n")):
        return None  # a comment that explains one of the sides
    if isinstance(first, ast.IfExp) and isinstance(document.parent(first), (ast.BinOp, ast.UnaryOp, ast.Compare)):
        start, end = _with_parentheses(document.code, start, end)
    return Edit(document.range(start, end), text)


def _with_parentheses(code: str, start: int, end: int) -> tuple[int, int]:
    """The range of an operand with the parentheses around it, which a call does without."""
    before, behind = code[:start].rstrip(), code[end:]
    blank = len(behind) - len(behind.lstrip())
    if before.endswith("(") and behind[blank:].startswith(")"):
        return len(before) - 1, end + blank + 1
    return start, end


# -- the branch -------------------------------------------------------------------------------------------------------


def branch_of(document: Document, node: ast.expr) -> ast.If | ast.IfExp | None:
    """The branch whose test a node is, or is part of."""
    inner: ast.AST = node
    for outer in document.around(node):
        if isinstance(outer, (ast.If, ast.IfExp)):
            return outer if outer.test is inner else None
        if not isinstance(outer, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Call)):
            return None
        inner = outer
    return None


def choice_of(document: Document, branch: ast.If | ast.IfExp) -> Choice | None:
    """What the two sides of a branch give; None where they do more than to return or set one variable."""
    if isinstance(branch, ast.IfExp):
        return Choice(branch.test, branch.body, branch.orelse, (branch,), "")
    if len(branch.body) != 1 or document.text(branch).startswith("elif"):
        return None
    inner, block = branch.body[0], document.block(branch)
    if isinstance(inner, ast.Return) and inner.value is not None:
        following = branch.orelse or block[block.index(branch) + 1 :][:1]
        other = following[0] if len(following) == 1 else None
        if not isinstance(other, ast.Return) or other.value is None:
            return None
        taken = (branch,) if branch.orelse else (branch, other)
        return Choice(branch.test, inner.value, other.value, taken, "return ")
    if not isinstance(inner, ast.Assign) or len(inner.targets) != 1 or not isinstance(inner.targets[0], ast.Name):
        return None
    target = inner.targets[0]
    other = branch.orelse[0] if len(branch.orelse) == 1 else None
    if isinstance(other, ast.Assign) and [ast.unparse(one) for one in other.targets] == [target.id]:
        return Choice(branch.test, inner.value, other.value, (branch,), f"{target.id} = ")
    if branch.orelse:
        return None
    return Choice(branch.test, inner.value, target, (branch,), f"{target.id} = ")


def _same_kind(document: Document, kinds: Kinds, choice: Choice) -> bool:
    """Whether both sides only compute, and are tensors of one form, or numbers that take part in arithmetic."""
    sides, dtypes = (choice.chosen, choice.other), Dtypes(document, kinds)
    if not all(is_pure(document, side) for side in sides):
        return False
    if all(map(kinds.is_number, sides)):
        outer = document.parent(choice.taken[0])
        if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, _ARITHMETIC):
            return False
        other = outer.right if outer.left is choice.taken[0] else outer.left
        return kinds.is_tensor(other) and dtypes.named(other) not in _WIDE
    if not all(map(kinds.is_tensor, sides)) or len({dtypes.named(side) for side in sides}) > 1:
        return False
    first, second = (kinds.shape(side) for side in sides)
    return first is not None and first == second


# -- the test ---------------------------------------------------------------------------------------------------------


def tensor_test(document: Document, kinds: Kinds, node: ast.expr) -> str | None:
    """A test as a tensor of truth values without dimensions; None if it cannot be one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = tensor_test(document, kinds, node.operand)
        return None if inner is None else f"{enclosed(inner)}.logical_not()"
    if isinstance(node, ast.Call):
        compared = _comparison(document, kinds, node)
        if compared is not None:
            return compared
        if equality(document, node) is not None:
            return None
        if isinstance(node.func, ast.Name) and node.func.id == "bool" and len(node.args) == 1:
            return tensor_test(document, kinds, node.args[0])
    if isinstance(node, ast.Compare):
        return _compared(document, kinds, node)
    if not kinds.is_tensor(node) or not kinds.is_scalar(node):
        return None
    return document.text(node) if kinds.is_boolean(node) else f"{enclosed(document.text(node))} != 0"


def _compared(document: Document, kinds: Kinds, node: ast.Compare) -> str | None:
    """A comparison, what its sides take out of tensors left in them."""
    if len(node.ops) != 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
        return None
    sides = [_side(document, kinds, side) for side in (node.left, node.comparators[0])]
    if any(side is None for side in sides):
        return None
    end, start = document.bounds(node.left)[1], document.bounds(node.comparators[0])[0]
    return f"{sides[0]}{document.code[end:start]}{sides[1]}"


def _side(document: Document, kinds: Kinds, node: ast.expr) -> str | None:
    if isinstance(node, ast.Call):
        taken_out = tensor_text(document, kinds, node)
        if taken_out is not None:
            return taken_out
    return document.text(node) if kinds.is_scalar(node) else None


def equality(document: Document, call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The two tensors of `torch.equal(a, b)` or `a.equal(b)`; None for other calls."""
    name = dotted(document, call.func)
    if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    if name == "torch.equal" and len(call.args) == 2:
        return call.args[0], call.args[1]
    if not name and isinstance(call.func, ast.Attribute) and call.func.attr == "equal" and len(call.args) == 1:
        return call.func.value, call.args[0]
    return None


def _comparison(document: Document, kinds: Kinds, call: ast.Call) -> str | None:
    """`torch.equal(a, b)`, `torch.allclose(a, b)` or their methods as a tensor of one truth value; None for others.

    Tensors of other shapes are not equal, while `==` broadcasts them, as `allclose` does.
    """
    sides = equality(document, call)
    if sides is not None:
        return equal_elements(document, sides) if has_one_shape(kinds, sides) else None
    name = dotted(document, call.func)
    if name == "torch.allclose":
        given = ", ".join(document.text(part) for part in (*call.args, *call.keywords))
        close = spelled(document, "torch.isclose")
        return None if close.edits else f"{close.text}({given}).all()"
    if name or not isinstance(call.func, ast.Attribute) or call.func.attr != "allclose" or call.keywords:
        return None
    given = ", ".join(document.text(part) for part in call.args)
    return f"{enclosed(document.text(call.func.value))}.isclose({given}).all()"


def has_one_shape(kinds: Kinds, sides: tuple[ast.expr, ast.expr]) -> bool:
    """Whether two tensors surely have the same shape."""
    first, second = map(kinds.shape, sides)
    return first is not None and first == second


def equal_elements(document: Document, sides: tuple[ast.expr, ast.expr]) -> str:
    """Whether all elements of two tensors are equal, as a tensor of one truth value."""
    first, second = (enclosed(document.text(side)) for side in sides)
    return f"({first} == {second}).all()"
