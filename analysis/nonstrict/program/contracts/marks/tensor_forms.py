"""What dtype and device a returned tensor has, as far as the text of a function tells, to compare two functions.

Everything is said in terms of the parameters, by their position, so that two functions with other names compare.
"""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nonstrict.facts.library_calls import Called, called
from nonstrict.facts.memo import remembered
from nonstrict.facts.targets import last_name
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope, walk
from nonstrict.knowledge import arrays
from nonstrict.knowledge.dtypes import DTYPES, named_dtype
from nonstrict.knowledge.operators import FLOATS, reshapes
from nonstrict.program.contracts.marks.form_tables import (
    ARRAY_COUNTS,
    ARRAY_MAKERS,
    FLOATING,
    MOVES,
    UNKNOWN,
    Form,
    either,
    names_dimension,
    part_of,
    promoted,
    together,
    with_number,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode

#: The dtypes of tensors that are filled with a number of Python.
_OF_NUMBERS = {"float": "default", "int": "int64", "bool": "bool"}
_FROM_ARRAYS = frozenset({"from_numpy", "as_tensor", "asarray", "tensor"})
_JOINING = frozenset({"cat", "concat", "concatenate", "stack"})
_PAIR = {"values": 0, "indices": 1}
_NO_COMPARISON = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
#: Attributes of tensors that have their dtype.
_SAME = frozenset({"T", "mT", "data", "H", "mH"})


class _Part(NamedTuple):
    """The value at a position of something that is taken apart."""

    value: ast.expr
    at: int


#: What local names are bound to; None is what is not known.
_Bindings: TypeAlias = "Mapping[str, tuple[ast.expr | _Part | None, ...]]"
_NOTHING: _Bindings = MappingProxyType({})


class Forms:
    """The forms of the expressions of one function, or of a module's top level; `names` tells what names stand for.

    `dtypes` are those of parameters of which more is known than that they are parameters.
    """

    def __init__(
        self, function: FunctionNode | ast.Module, names: Names, dtypes: Mapping[str, str] | None = None
    ) -> None:
        self._names = names
        self._dtypes = dtypes or {}
        arguments = function.args if not isinstance(function, ast.Module) else None
        plain = (*arguments.posonlyargs, *arguments.args) if arguments is not None else ()
        ordered = (*plain, *arguments.kwonlyargs) if arguments is not None else ()
        self._parameters = {each.arg: f"${index}" for index, each in enumerate(ordered)}
        self._numbers = {each.arg: each.annotation.id for each in plain if isinstance(each.annotation, ast.Name)}
        self._values: _Bindings = _bound(function) if not isinstance(function, ast.Lambda) else _NOTHING
        #: the forms of the names that were asked for
        self._known: dict[str, Form] = {}

    def of(self, node: ast.expr) -> Form:
        """The form of the tensor that an expression makes."""
        if isinstance(node, ast.Name):
            return self._of_name(node.id)
        if isinstance(node, ast.Call):
            device = self._device(node)
            form = self._of_call(node)
            return form if device is None else form._replace(device=device)
        if isinstance(node, ast.BinOp):
            return self._of_operator(node)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self.of(node.operand)
        if isinstance(node, ast.Compare) and len(node.comparators) == 1 and not isinstance(node.ops[0], _NO_COMPARISON):
            return self._broadcast(node.left, node.comparators[0]).of_dtype("bool")
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            return self._of_part(_Part(node.value, node.slice.value))
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _SAME):
            return UNKNOWN.of_dtype(self.of(node.value).dtype)
        if isinstance(node, ast.Attribute) and node.attr in _PAIR:
            return self._of_part(_Part(node.value, _PAIR[node.attr]))
        return UNKNOWN

    def _of_name(self, name: str) -> Form:
        """What a variable holds: one form, if everything that it is bound to has that."""
        if name not in self._known:
            self._known[name] = UNKNOWN  # of itself nothing is known
            values = [self._of_value(value) for value in self._values.get(name, ())]
            if name in self._parameters:
                position = self._parameters[name]
                values.append(Form(position, self._dtypes.get(name, f"like {position}")))
            self._known[name] = either(values) if values else UNKNOWN
        return self._known[name]

    def _of_value(self, value: ast.expr | _Part | None) -> Form:
        if isinstance(value, _Part):
            return self._of_part(value)
        return self.of(value) if value is not None else UNKNOWN

    def _only(self, node: ast.expr) -> ast.expr | _Part | None:
        """What a variable is bound to, and to nothing else."""
        values = self._values.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return values[0] if len(values) == 1 else None

    def _of_part(self, part: _Part) -> Form:
        """One of the results of a call, or of what a name was bound to."""
        node = part.value
        named = self._only(node)
        node = named if isinstance(named, ast.Call) else node
        if not isinstance(node, ast.Call):
            return UNKNOWN
        call = called(self._names, node)
        form = self.of(call.operand) if call.operand is not None else UNKNOWN
        if form == UNKNOWN and call.is_method and all(keyword.arg != "dim" for keyword in node.keywords):
            return UNKNOWN
        if call.operator is not None and call.operator.dim_returns and not names_dimension(node, call.given):
            return UNKNOWN
        found = part_of(call, form, part.at)
        return found if found.dtype else found.of_dtype(self._result_dtype(node, call, form, part.at))

    def _of_operator(self, node: ast.BinOp) -> Form:
        form = self._broadcast(node.left, node.right)
        if isinstance(node.op, ast.Div) and form.dtype not in FLOATS:
            return form.of_dtype(FLOATING)
        return UNKNOWN.of_dtype(form.dtype) if isinstance(node.op, ast.MatMult) else form

    def _broadcast(self, left: ast.expr, right: ast.expr) -> Form:
        """What two operands give that have the same form, or one of which is a number."""
        form, other = self.of(left), self.of(right)
        for tensor, operand in ((form, right), (other, left)):
            number = self._number(operand)
            if number:
                return with_number(tensor, number)
        return promoted(form, other)

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

    def _of_call(self, node: ast.Call) -> Form:
        call = called(self._names, node)
        name, method, operand = call.name, call.is_method, call.operand
        if call.library == "numpy":
            return self._of_numpy(node, name)
        if operand is None or not (method or call.library == "torch"):
            return UNKNOWN
        operator = call.operator
        if operator is not None and operator.sized and not method:
            return _made(self._result_dtype(node, call, UNKNOWN) or self._filling(node))
        if not method and name in _JOINING:
            return self._joined(operand)
        form = self.of(operand)
        if form.array and method:
            return self._of_array(node, name, form)
        if not method and name in _FROM_ARRAYS:
            return form._replace(dtype=self._dtype(node) or form.dtype, array=False) if form.array else UNKNOWN
        if operator is not None and operator.sized:
            return _made(self._result_dtype(node, call, form))
        if name == "arange" and not method and len(node.args) == 1:
            whole = self._is_size(operand) or isinstance(getattr(operand, "value", None), int)
            return _made(self._dtype(node) or ("int64" if whole else ""))
        found = self._kept(node, call, form) or _made("")
        return found if found.dtype else found.of_dtype(self._result_dtype(node, call, form))

    def _result_dtype(self, node: ast.Call, call: Called, form: Form, at: int = -1) -> str:
        """The dtype that torch gives the result of an operator, or one of its results; "" where it is not known."""
        operator, told = call.operator, self._dtype(node)
        if operator is None or told:
            return told
        if at < 0 and operator.dim_returns not in ("", operator.returns) and (call.given or node.keywords):
            return ""
        if operator.promotes and at < 0:
            return self._promoted(form, [*call.given, *(keyword.value for keyword in node.keywords)]).dtype
        given, named = 1 + len(call.given), [keyword.arg or "**" for keyword in node.keywords]
        found = operator.result_dtype("float32" if form.dtype == FLOATING else form.dtype, given, named, at)
        if found:
            return FLOATING if found == "float32" and form.dtype == FLOATING else found
        return FLOATING if at < 0 and operator.gives_floating(given, named) else ""

    def _kept(self, node: ast.Call, call: Called, form: Form) -> Form | None:
        """The form of what has the shape of its operand, or one dimension more; None if it may have another one."""
        name, given, method = call.name, call.given, call.is_method
        operator = call.operator
        if name in MOVES and method:
            return form._replace(moved=True, array=name == "numpy")
        if name in ("to", "type", "type_as"):
            return form.of_dtype(self._dtype(node) or (dtype_name(self._names, given[0]) if given else ""))
        if name == "unsqueeze":
            return form.reshaped()
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
        """What a tensor gives with numbers and other tensors."""
        for other in others:
            number = self._number(other)
            form = with_number(form, number) if number else promoted(form, self.of(other))
        return form

    def _filling(self, node: ast.Call) -> str:
        """The dtype of what `torch.full(sizes, value)` makes."""
        told = [keyword.value for keyword in node.keywords if keyword.arg == "fill_value"] or node.args[1:2]
        return _OF_NUMBERS.get(self._number(told[0]), "") if told else ""

    def _joined(self, operand: ast.expr) -> Form:
        """`torch.cat` and `torch.stack` of a literal tuple or list."""
        parts = operand.elts if isinstance(operand, (ast.Tuple, ast.List)) else []
        if not parts or any(isinstance(part, ast.Starred) for part in parts):
            return UNKNOWN
        return together([self.of(part) for part in parts])

    def _of_numpy(self, node: ast.Call, name: str) -> Form:
        """The form of the array that a function of NumPy makes."""
        if name in ARRAY_MAKERS and node.args:
            second = dtype_name(self._names, node.args[1]) or "?" if len(node.args) > 1 else ""
            told = self._dtype(node) or second
            return _made(told or "numpy")._replace(array=True)
        if name in ARRAY_COUNTS:
            return Form(dtype="int64", moved=True, array=True)
        form = self.of(node.args[0]) if node.args else UNKNOWN
        if not form.array:
            return UNKNOWN
        if name in ("array", "asarray", "ascontiguousarray", "zeros_like", "ones_like", "empty_like"):
            return form.of_dtype(self._dtype(node) or form.dtype)
        dtype = form.dtype if form.dtype in FLOATS else ""
        if arrays.keeps_shape(name) and all(isinstance(one, (ast.Constant, ast.UnaryOp)) for one in node.args[1:]):
            return form.of_dtype(dtype)
        return Form(dtype=dtype, moved=True, array=True) if name == "cumsum" else UNKNOWN

    def _of_array(self, node: ast.Call, name: str, form: Form) -> Form:
        """The form of what a method of an array gives."""
        if name == "astype" and node.args:
            return form.of_dtype(dtype_name(self._names, node.args[0]))
        return form if name == "copy" else UNKNOWN

    def _is_size(self, node: ast.expr) -> bool:
        """Whether an expression surely is one number: `x.shape[0]`, `x.size(0)`, or arithmetic."""
        if isinstance(node, ast.BinOp):
            return self._is_size(node.left) or isinstance(node.left, ast.Constant)
        if isinstance(node, ast.Subscript):
            return last_name(node) == "shape" and not isinstance(node.slice, ast.Slice)
        return isinstance(node, ast.Call) and last_name(node) in ("size", "numel", "len") and bool(node.args)

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
            return self._of_name(node.value.id).dtype
        return ""


def _bound(function: FunctionNode | ast.Module) -> _Bindings:
    """What the local names of a text are bound to; what is changed in place keeps its dtype."""
    return remembered(function, "_nonstrict_bound_values", _bindings)


def _bindings(function: FunctionNode | ast.Module) -> _Bindings:
    bound, found = use_def(function), dict[str, tuple[ast.expr | _Part | None, ...]]()
    for name in bound.definitions:
        every = (one for one in bound.every(name) if not isinstance(one.node, ast.AugAssign))
        values = tuple(_Part(one.value, one.part.at) if one.value and one.part else one.value for one in every)
        found[name] = values or (None,)
    for node in own_scope(function):
        if isinstance(node, ast.Call) and reshapes(last_name(node)) and isinstance(node.func, ast.Attribute):
            found[getattr(node.func.value, "id", "")] = (None,)
    return found


def _made(dtype: str) -> Form:
    """The form of a tensor that is made with sizes."""
    return Form(dtype=dtype, moved=True)


def dtype_name(names: Names, node: ast.expr) -> str:
    """The dtype that an expression names: `torch.long`, `np.float64`, `"float64"`, `float`."""
    if isinstance(node, ast.Constant):
        return node.value if node.value in DTYPES else ""
    return named_dtype(names(node))


def tensors_in(node: ast.expr) -> list[ast.expr]:
    """The elements of a literal tuple or list, or the expression itself."""
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else [node]


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name stands in an expression."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node))
