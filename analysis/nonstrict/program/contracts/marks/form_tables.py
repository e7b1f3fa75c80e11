"""What form the results of operations of torch and NumPy have, told from the form of their operand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.library_calls import Called

#: Methods whose result is the same tensor elsewhere, or an array that shares its memory.
MOVES = frozenset({"numpy", "cpu", "cuda", "pin_memory"})
#: Functions of NumPy whose result has the shape of their operand, and its dtype if that is a floating-point one.
ARRAY_SAME = frozenset(
    {"abs", "absolute", "cos", "exp", "expm1", "fabs", "log", "log1p", "negative", "positive", "sin", "sqrt", "square"}
    | {"tan", "tanh", "arctan", "cbrt", "sinh", "cosh", "flip", "clip", "sort", "copy", "ascontiguousarray"}
)
#: Functions of NumPy that make an array of sizes, `float64` where nothing is said.
ARRAY_MAKERS = frozenset({"zeros", "ones", "empty"})
#: Functions of NumPy whose result holds positions or counts.
ARRAY_COUNTS = frozenset({"argsort", "searchsorted", "flatnonzero", "digitize"})
#: Reductions to truth values; of `uint8` they give `uint8`.
_TRUTHS = frozenset({"any", "all"})


class Rank(NamedTuple):
    """A number of dimensions: that of a parameter, and how many more."""

    of: str
    more: int = 0


class Resized(NamedTuple):
    """A shape that is that of parameters but for one dimension, which is `smaller` or `larger`."""

    of: tuple[str, ...]
    along: str
    how: str


class Form(NamedTuple):
    """A tensor, or an array.

    `like` is the parameter whose shape it has; `dims` are the sizes as text, None where they are not known.
    `dtype` is a name, `like N` for that of a parameter, `default`, `numpy` for NumPy's default, or "" if not known.
    `rank` says how many dimensions it has, `resized` that it has the shape of parameters but for one size.
    `moved` says that it need not have the layout and device of the parameter, `array` that it is one of NumPy.
    `device` is the type of the device that is named, "" if none is.
    """

    like: str = ""
    dims: tuple[str, ...] | None = None
    dtype: str = ""
    rank: Rank | None = None
    resized: Resized | None = None
    moved: bool = False
    array: bool = False
    device: str = ""

    def with_dimensions(self, more: int) -> Form:
        """A tensor of the same dtype with more dimensions, fewer if negative, or as many of other sizes."""
        rank = Rank(self.rank.of, self.rank.more + more) if self.rank is not None else None
        return Form(dtype=self.dtype, rank=rank, moved=True)

    def of_dtype(self, dtype: str) -> Form:
        """The same with another dtype."""
        return self._replace(dtype=dtype)


UNKNOWN = Form()


def reduced(node: ast.Call, call: Called, form: Form) -> Form:
    """The form of what reduces a tensor of another form, over one dimension or all of them."""
    operator, given = call.operator, call.given
    if operator is None or operator.returns != "tensor":
        return UNKNOWN
    dtype = "bool" if call.name in _TRUTHS else ""
    change = _change(node, given, operator.dim - 1)
    if operator.dim and change is not None and form.rank is not None and not operator.pairs:
        return form.with_dimensions(change).of_dtype(dtype)
    if operator.reduces and not node.keywords and not given:
        return Form("", (), dtype)
    return UNKNOWN


def one_of_pair(node: ast.Call, call: Called, form: Form, index: int) -> Form:
    """The form of the values (0) or indices (1) that a reduction or a sort gives."""
    operator, given = call.operator, call.given
    if operator is None or not operator.pairs or form.array or index not in (0, 1):
        return UNKNOWN
    change = _change(node, given, operator.dim - 1)
    if operator.dim_returns and change is None:
        return UNKNOWN
    dtype = "int64" if index else form.dtype
    if operator.keeps_shape:
        return form._replace(dtype=dtype, moved=form.moved or call.name != "sort")
    if not operator.dim:
        return form.with_dimensions(0).of_dtype(dtype)  # `topk`
    if change is None:
        told = any(keyword.arg in ("dim", "keepdim") for keyword in node.keywords) or len(given) > operator.dim
        return Form(dtype=dtype) if told else form.with_dimensions(-1).of_dtype(dtype)
    return form.with_dimensions(change).of_dtype(dtype)


def one_piece(node: ast.Call, call: Called, form: Form, index: int, count: int) -> Form:
    """The form of one of the pieces that a tensor is cut into; `count` are those that are taken, 0 if not told."""
    name, given, operator = call.name, call.given, call.operator
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if name == "unbind":
        return form.with_dimensions(-1)
    if operator is None or not operator.cuts or form.rank is None or not form.like:
        return UNKNOWN
    number = keywords.get("chunks", given[0] if given else None)
    several = isinstance(number, ast.Constant) and isinstance(number.value, int) and number.value > 1
    if not (count > 1 or index > 0 or (several and name != "split")):
        return UNKNOWN
    dimension = keywords.get("dim", given[1] if len(given) > 1 else ast.Constant(0))
    resized = Resized((form.like,), ast.unparse(dimension), "smaller")
    return Form(dtype=form.dtype, rank=form.rank, resized=resized, moved=True)


def concatenated(node: ast.Call, forms: Sequence[Form]) -> Form:
    """The form of several tensors in one, along a dimension that they have."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    dimension = keywords.get("dim", node.args[1] if len(node.args) > 1 else ast.Constant(0))
    dtype = forms[0].dtype if len({form.dtype for form in forms}) == 1 else ""
    likes = tuple(form.like for form in forms)
    if len(forms) < 2 or not all(likes):
        return Form(dtype=dtype)
    return Form("", None, dtype, forms[0].rank, Resized(likes, ast.unparse(dimension), "larger"), moved=True)


def stacked(forms: Sequence[Form]) -> Form:
    """The form of several tensors in one, along a dimension of its own."""
    dtype = forms[0].dtype if len({form.dtype for form in forms}) == 1 else ""
    return forms[0].with_dimensions(1).of_dtype(dtype)


def _change(node: ast.Call, given: Sequence[ast.expr], at: int) -> int | None:
    """How many dimensions a reduction adds, 0 if it keeps them; None where it is not told dimensions.

    `at` is where the dimension stands among the given arguments, and whether to keep it behind that.
    """
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    behind = list(given[at:]) if at >= 0 else []
    dimension = keywords.get("dim", keywords.get("axis", behind[0] if behind else None))
    kept = keywords.get("keepdim", keywords.get("keepdims", behind[1] if len(behind) > 1 else ast.Constant(False)))
    count = _dimensions(dimension)
    if not count or not isinstance(kept, ast.Constant) or not isinstance(kept.value, bool):
        return None
    return 0 if kept.value else -count


def _dimensions(node: ast.expr | None) -> int:
    """How many dimensions an expression names."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return len(node.elts) if all(_dimensions(element) for element in node.elts) else 0
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return int(isinstance(node, ast.Constant) and type(node.value) is int)
