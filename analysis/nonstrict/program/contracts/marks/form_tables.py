"""What dtype the results of operations of torch and NumPy have, told from the form of their operand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.knowledge.operators import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.library_calls import Called

#: Methods whose result is the same tensor elsewhere, or an array that shares its memory.
MOVES = frozenset({"numpy", "cpu", "cuda", "pin_memory"})
#: Functions of NumPy that make an array of sizes, `float64` where nothing is said.
ARRAY_MAKERS = frozenset({"zeros", "ones", "empty"})
#: Functions of NumPy whose result holds positions or counts.
ARRAY_COUNTS = frozenset({"argsort", "searchsorted", "flatnonzero", "digitize"})

#: The dtype of what surely is floating-point; of which dtype is not known.
FLOATING = "floating"


class Form(NamedTuple):
    """A tensor, or an array.

    `like` is the parameter whose shape it has. `dtype` is a name, `like N` for that of a parameter, `default`, `numpy`
    for NumPy's default, `floating`, or "" if not known. `moved` says that it need not have the layout and device of
    the parameter, `array` that it is one of NumPy. `device` is the type of the device that is named, "" if none is.
    """

    like: str = ""
    dtype: str = ""
    moved: bool = False
    array: bool = False
    device: str = ""

    def of_dtype(self, dtype: str) -> Form:
        """The same with another dtype."""
        return self._replace(dtype=dtype)

    def reshaped(self) -> Form:
        """A tensor of the same dtype that may have any shape."""
        return Form(dtype=self.dtype, moved=True)


UNKNOWN = Form()


def part_of(call: Called, form: Form, index: int) -> Form:
    """The form of one of the results of an operator: a piece, or of the values (0) or indices (1) of what sorts.

    Of which dtype these are is not said.
    """
    operator = call.operator
    if operator is not None and operator.cuts:
        return form.reshaped()
    if operator is None or not operator.pairs or form.array or index not in (0, 1):
        return UNKNOWN
    kept = form._replace(moved=form.moved or call.name != "sort") if operator.keeps_shape else form.reshaped()
    return kept.of_dtype("")


def with_number(form: Form, number: str) -> Form:
    """What a tensor and a number of some type give, "" for what may be no number."""
    kept = number == "bool" or form.dtype in FLOATS or (number == "int" and form.dtype != "bool")
    return form if kept else form.of_dtype(FLOATING if form.dtype == FLOATING or number == "float" else "")


def promoted(form: Form, other: Form) -> Form:
    """What two tensors give: of the same dtype that, and a floating-point one if either has such."""
    shaped = form if form == other.of_dtype(form.dtype) else UNKNOWN
    if form.dtype == other.dtype:
        return shaped.of_dtype(form.dtype)
    return shaped.of_dtype(FLOATING if any(map(is_floating, (form.dtype, other.dtype))) else "")


def either(forms: Sequence[Form]) -> Form:
    """What is one of several."""
    dtypes = {form.dtype for form in forms}
    whole = all(form == forms[0].of_dtype(form.dtype) for form in forms)
    dtype = dtypes.pop() if len(dtypes) == 1 else FLOATING if all(map(is_floating, dtypes)) else ""
    return (forms[0] if whole else UNKNOWN).of_dtype(dtype)


def is_floating(dtype: str) -> bool:
    """Whether a dtype surely is a floating-point one."""
    return dtype in FLOATS or dtype in (FLOATING, "default")


def together(forms: Sequence[Form]) -> Form:
    """The form of several tensors in one."""
    return Form(dtype=forms[0].dtype if len({form.dtype for form in forms}) == 1 else "", moved=True)


def names_dimension(node: ast.Call, given: Sequence[ast.expr]) -> bool:
    """Whether `max` and the like are told a dimension: what they are told without a name may be another tensor."""
    first = given[0] if given else None
    first = first.operand if isinstance(first, ast.UnaryOp) else first
    return isinstance(first, ast.Constant) or any(keyword.arg in ("dim", "axis") for keyword in node.keywords)
