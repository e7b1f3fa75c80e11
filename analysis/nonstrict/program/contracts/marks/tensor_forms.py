"""What shape, dtype and device a returned tensor has, as far as the text of a function tells, to compare two functions.

Everything is said in terms of the parameters, by their position, so that two functions with other names compare.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.library_calls import Called, called
from nonstrict.facts.targets import last_name
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope, walk
from nonstrict.knowledge.operators import FLOATS
from nonstrict.program.contracts.marks.form_tables import (
    ARRAY_COUNTS,
    ARRAY_MAKERS,
    ARRAY_SAME,
    MOVES,
    UNKNOWN,
    Form,
    Rank,
    concatenated,
    one_of_pair,
    one_piece,
    reduced,
    stacked,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode

#: The dtypes of tensors that are filled with a number of Python.
_OF_NUMBERS = {"float": "default", "int": "int64", "bool": "bool"}
#: The dtypes that methods of tensors without arguments convert to.
CASTS = {
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
}
#: Types of Python that stand for a dtype.
_PYTHON = {"float": "float64", "int": "int64", "bool": "bool"}
_SPELLINGS = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32"}
DTYPES = frozenset({*CASTS.values(), "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32"})
_FROM_ARRAYS = frozenset({"from_numpy", "as_tensor", "asarray", "tensor"})
_JOINING = frozenset({"cat", "concat", "concatenate", "stack"})
_PAIR = {"values": 0, "indices": 1}
#: Methods in place after which a tensor has another shape.
RESHAPING = frozenset(
    {"resize_", "resize_as_", "unsqueeze_", "squeeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "set_"}
    | {"as_strided_"}
)
_NO_COMPARISON = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_MAX_DEPTH = 12


class _Part(NamedTuple):
    """The value at a position of something that is taken apart into `number` values, 0 if into any number."""

    value: ast.expr
    at: int
    number: int


class Forms:
    """The forms of the expressions of one function; `names` tells what its names stand for."""

    def __init__(self, function: FunctionNode, names: Names) -> None:
        self._names = names
        arguments = function.args
        ordered = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        self._parameters = {name: f"${index}" for index, name in enumerate(ordered)}
        self._numbers = {
            each.arg: each.annotation.id for each in arguments.args if isinstance(each.annotation, ast.Name)
        }
        self._values: dict[str, ast.expr | _Part | None] = {}
        if not isinstance(function, ast.Lambda):
            self._note(function)

    def _note(self, function: FunctionNode) -> None:
        """Record what the local names are bound to that are bound once."""
        bound = use_def(function)
        self._values = dict.fromkeys(bound.definitions)
        for name, only in bound.once():
            value, part = only.value, only.part
            self._values[name] = _Part(value, *part) if value is not None and part is not None else value
        for node in own_scope(function):
            if isinstance(node, ast.Call) and last_name(node) in RESHAPING and isinstance(node.func, ast.Attribute):
                self._values[getattr(node.func.value, "id", "")] = None

    def of(self, node: ast.expr, depth: int = 0) -> Form:
        """The form of the tensor that an expression makes."""
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Call):
            device = self._device(node)
            form = self._of_call(node, depth)
            return form if device is None else form._replace(device=device)
        if isinstance(node, ast.BinOp):
            return self._of_operator(node, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
            return self.of(node.operand, depth + 1)
        if isinstance(node, ast.Compare) and len(node.comparators) == 1 and not isinstance(node.ops[0], _NO_COMPARISON):
            return self._broadcast(node.left, node.comparators[0], depth).of_dtype("bool")
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            return self._of_part(_Part(node.value, node.slice.value, 0), depth + 1)
        if isinstance(node, ast.Subscript):
            return UNKNOWN.of_dtype(self.of(node.value, depth + 1).dtype)
        if isinstance(node, ast.Attribute) and node.attr in _PAIR:
            return self._of_part(_Part(node.value, _PAIR[node.attr], 0), depth + 1)
        return UNKNOWN

    def _of_name(self, name: str, depth: int) -> Form:
        value = self._values.get(name)
        if isinstance(value, _Part):
            return self._of_part(value, depth + 1)
        if value is not None:
            return self.of(value, depth + 1)
        position = self._parameters.get(name)
        if position is None or name in self._values:
            return UNKNOWN
        return Form(position, None, f"like {position}", Rank(position))

    def _of_part(self, part: _Part, depth: int) -> Form:
        """One of the results of a call, or of what a name was bound to."""
        node = part.value
        named = self._values.get(node.id) if isinstance(node, ast.Name) else None
        node = named if isinstance(named, ast.Call) else node
        if not isinstance(node, ast.Call) or depth > _MAX_DEPTH:
            return UNKNOWN
        call = called(self._names, node)
        form = self.of(call.operand, depth + 1) if call.operand is not None else UNKNOWN
        if form == UNKNOWN and call.is_method and all(keyword.arg != "dim" for keyword in node.keywords):
            return UNKNOWN
        cut = one_piece(node, call, form, part.at, part.number)
        found = cut if cut != UNKNOWN else one_of_pair(node, call, form, part.at)
        return found if found.dtype else found.of_dtype(self._result_dtype(node, call, form, part.at))

    def _of_operator(self, node: ast.BinOp, depth: int) -> Form:
        if isinstance(node.op, ast.MatMult):
            return UNKNOWN
        form = self._broadcast(node.left, node.right, depth)
        whole = isinstance(node.op, ast.Div) and form.dtype not in FLOATS
        return form.of_dtype("") if whole else form

    def _broadcast(self, left: ast.expr, right: ast.expr, depth: int) -> Form:
        """What two operands give that have the same form, or one of which is a number or has no dimensions."""
        forms = self.of(left, depth + 1), self.of(right, depth + 1)
        for form, other, operand in ((*forms, right), (*forms[::-1], left)):
            number = self._number(operand)
            if number:
                return self._with_number(form, number)
            if form == other.of_dtype(form.dtype):
                return form if form.dtype == other.dtype else form.of_dtype("")
        scalars = [form for form, other in (forms, forms[::-1]) if other.dims == () and form.dims != ()]
        return scalars[0].of_dtype("") if len(scalars) == 1 else UNKNOWN

    def _number(self, node: ast.expr) -> str:
        """The type of what surely is a number, "" if it may be something else."""
        if isinstance(node, ast.UnaryOp):
            node = node.operand
        if isinstance(node, ast.Constant):
            return type(node.value).__name__
        known = isinstance(node, ast.Name) and node.id not in self._values
        kind = self._numbers.get(node.id, "") if isinstance(node, ast.Name) and known else ""
        return kind if kind in ("int", "float") else ""

    # -- calls --------------------------------------------------------------------------------------------------------

    def _of_call(self, node: ast.Call, depth: int) -> Form:
        call = called(self._names, node)
        name, method, operand = call.name, call.is_method, call.operand
        if call.library == "numpy":
            return self._of_numpy(node, name, depth)
        if operand is None or not (method or call.library == "torch"):
            return UNKNOWN
        operator = call.operator
        if operator is not None and operator.sized and not method:
            dtype = self._result_dtype(node, call, UNKNOWN) or self._filling(node)
            return self._made(node, node.args, dtype, single=not operator.spread)
        if not method and name in _JOINING:
            return self._joined(node, name, operand, depth)
        form = self.of(operand, depth + 1)
        if form.array and method:
            return self._of_array(node, name, form)
        if not method and name in _FROM_ARRAYS:
            return form._replace(dtype=self._dtype(node) or form.dtype, array=False) if form.array else UNKNOWN
        if operator is not None and operator.sized:
            return self._made(node, call.given, self._result_dtype(node, call, form), single=not operator.spread)
        if name == "arange" and not method and len(node.args) == 1:
            whole = self._is_size(operand) or isinstance(getattr(operand, "value", None), int)
            return Form("", (self._size(operand),), self._dtype(node) or ("int64" if whole else ""))
        found = self._kept(node, call, form) or reduced(node, call, form)
        return found if found.dtype else found.of_dtype(self._result_dtype(node, call, form))

    def _result_dtype(self, node: ast.Call, call: Called, form: Form, at: int = -1) -> str:
        """The dtype that torch gives the result of an operator, or one of its results; "" where it is not known."""
        operator, told = call.operator, self._dtype(node)
        if operator is None or told:
            return told
        if at < 0 and operator.dim_returns not in ("", operator.returns) and (call.given or node.keywords):
            return ""
        if operator.promotes:
            return self._promoted(form, [*call.given, *(keyword.value for keyword in node.keywords)]).dtype
        named = [keyword.arg or "**" for keyword in node.keywords]
        return operator.result_dtype(form.dtype, 1 + len(call.given), named, at)

    def _kept(self, node: ast.Call, call: Called, form: Form) -> Form | None:
        """The form of what has the shape of its operand, or one dimension more; None if it may have another one."""
        name, given, method = call.name, call.given, call.is_method
        operator = call.operator
        if name in MOVES and method:
            return form._replace(moved=True, array=name == "numpy")
        if name in ("to", "type", "type_as"):
            return form.of_dtype(self._dtype(node) or (dtype_name(self._names, given[0]) if given else ""))
        if name == "unsqueeze":
            return form.with_dimensions(1)
        if name == "view" and given:
            return UNKNOWN.of_dtype(dtype_name(self._names, given[0]) or form.dtype)
        if operator is None or operator.mutates or operator.returns != "tensor":
            return None
        if operator.keeps_shape:
            return form.of_dtype("")
        if operator.pointwise:
            simple = not given or all(isinstance(each, (ast.Constant, ast.UnaryOp)) for each in given)
            return form.of_dtype("") if simple else UNKNOWN
        return None

    def _promoted(self, form: Form, others: Sequence[ast.expr]) -> Form:
        """A tensor of the dtype that numbers leave it; of none that is known where the others may be tensors."""
        for other in others:
            form = self._with_number(form, self._number(other))
        return form

    def _with_number(self, form: Form, number: str) -> Form:
        """What a tensor and a number of some type give, "" for what may be no number."""
        kept = number == "bool" or form.dtype in FLOATS or (number == "int" and form.dtype != "bool")
        return form if number and kept else form.of_dtype("")

    def _filling(self, node: ast.Call) -> str:
        """The dtype of what `torch.full(sizes, value)` makes."""
        told = [keyword.value for keyword in node.keywords if keyword.arg == "fill_value"] or node.args[1:2]
        return _OF_NUMBERS.get(self._number(told[0]), "") if told else ""

    def _joined(self, node: ast.Call, name: str, operand: ast.expr, depth: int) -> Form:
        """`torch.cat` and `torch.stack` of a literal tuple or list."""
        parts = operand.elts if isinstance(operand, (ast.Tuple, ast.List)) else []
        if not parts or any(isinstance(part, ast.Starred) for part in parts):
            return UNKNOWN
        forms = [self.of(part, depth + 1) for part in parts]
        return stacked(forms) if name == "stack" else concatenated(node, forms)

    def _of_numpy(self, node: ast.Call, name: str, depth: int) -> Form:
        """The form of the array that a function of NumPy makes."""
        if name in ARRAY_MAKERS and node.args:
            second = dtype_name(self._names, node.args[1]) or "?" if len(node.args) > 1 else ""
            told = self._dtype(node) or second
            return self._made(node, node.args, told or "numpy", single=True)._replace(moved=True, array=True)
        if name in ARRAY_COUNTS:
            return Form(dtype="int64", moved=True, array=True)
        form = self.of(node.args[0], depth + 1) if node.args else UNKNOWN
        if not form.array:
            return UNKNOWN
        if name in ("array", "asarray", "zeros_like", "ones_like", "empty_like"):
            return form.of_dtype(self._dtype(node) or form.dtype)
        dtype = form.dtype if form.dtype in FLOATS else ""
        if name in ARRAY_SAME and all(isinstance(one, (ast.Constant, ast.UnaryOp)) for one in node.args[1:]):
            return form.of_dtype(dtype)
        return Form(dtype=dtype, moved=True, array=True) if name == "cumsum" else UNKNOWN

    def _of_array(self, node: ast.Call, name: str, form: Form) -> Form:
        """The form of what a method of an array gives."""
        if name == "astype" and node.args:
            return form.of_dtype(dtype_name(self._names, node.args[0]))
        return form if name == "copy" else UNKNOWN

    # -- sizes --------------------------------------------------------------------------------------------------------

    def _made(self, node: ast.Call, given: Sequence[ast.expr], dtype: str, *, single: bool) -> Form:
        """What is made with sizes: `n, 3`, `(n, 3)`, `x.shape`, `x.shape[:-1]`."""
        sizes = list(given[:1]) if single else list(given)
        sizes = sizes or [keyword.value for keyword in node.keywords if keyword.arg == "size"]
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = list(sizes[0].elts)
        elif len(sizes) == 1 and not isinstance(sizes[0], ast.Constant) and not self._is_size(sizes[0]):
            return self._like_shape(sizes[0])._replace(dtype=dtype)
        if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
            return Form(dtype=dtype)
        return Form("", tuple(self._size(size) for size in sizes), dtype)

    def _like_shape(self, node: ast.expr) -> Form:
        """What is made with the shape of a tensor, or with all but some sizes of it."""
        without = 0
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            node, without = node.value, _left_out(node.slice)
        of_size = isinstance(node, ast.Call) and last_name(node) == "size" and not node.args
        owner = node.func if of_size and isinstance(node, ast.Call) else node
        if not isinstance(owner, ast.Attribute) or owner.attr not in ("shape", "size") or without < 0:
            return UNKNOWN
        form = self.of(owner.value)
        return form.with_dimensions(-without) if without else form._replace(moved=True)

    def _is_size(self, node: ast.expr) -> bool:
        """Whether an expression surely is one number: `x.shape[0]`, `x.size(0)`, or arithmetic."""
        if isinstance(node, ast.BinOp):
            return self._is_size(node.left) or isinstance(node.left, ast.Constant)
        if isinstance(node, ast.Subscript):
            return last_name(node) == "shape" and not isinstance(node.slice, ast.Slice)
        return isinstance(node, ast.Call) and last_name(node) in ("size", "numel", "len") and bool(node.args)

    def _size(self, node: ast.expr) -> str:
        """The text of a size, parameters by their position, `x.size(0)` as `x.shape[0]`."""
        value = self._values.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(value, _Part):
            of_shape = isinstance(value.value, ast.Attribute) and value.value.attr == "shape"
            return self._size(ast.Subscript(value.value, ast.Constant(value.at))) if of_shape else "?"
        if value is not None:
            return self._size(value)
        if isinstance(node, ast.Name):
            known = node.id in self._parameters and node.id not in self._values
            return self._parameters[node.id] if known else f"?{node.id}"
        if isinstance(node, ast.Constant):
            return repr(node.value)
        if isinstance(node, ast.BinOp):
            return f"({self._size(node.left)} {type(node.op).__name__} {self._size(node.right)})"
        if isinstance(node, ast.Call) and last_name(node) == "size" and isinstance(node.func, ast.Attribute):
            index = node.args[0] if node.args else None
            return f"{self._size(node.func.value)}.shape[{ast.unparse(index)}]" if index is not None else "?"
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return f"{self._size(node.value.value)}.shape[{ast.unparse(node.slice)}]"
        return "?"

    def _dtype(self, node: ast.Call) -> str:
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                return dtype_name(self._names, keyword.value) or self._dtype_of(keyword.value) or "?"
        return ""

    def _device(self, node: ast.Call) -> str | None:
        """The type of the device that a call names, "" for a computed one; None if it names none."""
        call = called(self._names, node)
        if call.name in ("cpu", "cuda") and call.is_method and not node.keywords:
            return call.name
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
        if given is None and call.name == "to" and node.args and not dtype_name(self._names, node.args[0]):
            given = node.args[0]
        if given is None:
            return None
        if isinstance(given, ast.Call) and called(self._names, given).name == "device" and given.args:
            given = given.args[0]
        return given.value.partition(":")[0] if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""

    def _dtype_of(self, node: ast.expr) -> str:
        """`x.dtype`."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and isinstance(node.value, ast.Name):
            return self._of_name(node.value.id, 0).dtype
        return ""


def _left_out(node: ast.Slice) -> int:
    """How many elements `[:-2]` or `[2:]` leaves out; -1 for anything else."""
    end = node.upper if node.lower is None else node.lower if node.upper is None else None
    negative = isinstance(end, ast.UnaryOp) and isinstance(end.op, ast.USub)
    if node.step is not None or end is None or negative is not (node.lower is None):
        return -1
    number = end.operand if isinstance(end, ast.UnaryOp) else end
    return number.value if isinstance(number, ast.Constant) and type(number.value) is int else -1


def dtype_name(names: Names, node: ast.expr) -> str:
    """The dtype that an expression names: `torch.long`, `np.float64`, `"float64"`, `float`."""
    if isinstance(node, ast.Constant):
        return node.value if node.value in DTYPES else ""
    library, _, name = names(node).partition(".")
    if library == "builtins":
        return _PYTHON.get(name, "")
    if library not in ("torch", "numpy"):
        return ""
    name = _SPELLINGS.get(name, name) if library == "torch" else name.rstrip("_")
    return name if name in DTYPES else ""


def tensors_in(node: ast.expr) -> list[ast.expr]:
    """The elements of a literal tuple or list, or the expression itself."""
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else [node]


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name stands in an expression."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node))
