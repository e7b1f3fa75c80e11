"""What shape, dtype and device a returned tensor has, as far as the text of a function tells, to compare two functions.

Everything is said in terms of the parameters, by their position, so that two functions with other names compare.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.scopes import FunctionNode

_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "randint_like"})
_NEW = frozenset({"new_empty", "new_zeros", "new_ones", "new_full"})
_MAKERS = frozenset({"empty", "zeros", "ones", "full", "rand", "randn"})
#: Operations whose result has the shape of their operand, and its dtype.
_SAME = frozenset({"clone", "contiguous", "detach", "neg", "abs", "relu", "add", "sub", "mul", "clamp", "flip", "roll"})
#: Operations whose result has the shape of their operand; integers become floating-point numbers.
_SAME_SHAPE = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "exp",
        "log",
        "sqrt",
        "rsqrt",
        "sigmoid",
        "tanh",
        "softmax",
        "log_softmax",
        "gelu",
        "silu",
        "erf",
        "square",
        "pow",
        "div",
        "cumsum",
    ]
)
_REDUCTIONS = frozenset({"sum", "mean", "prod", "std", "var", "norm", "max", "min", "amax", "amin", "any", "all"})
#: Reductions whose first argument is the dimension that is gone in the result.
_ALONG = frozenset({"sum", "mean", "prod", "amax", "amin", "any", "all", "argmax", "argmin", "logsumexp"})
_CASTS = {
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
_SPELLINGS = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32"}
_DTYPES = frozenset({*_CASTS.values(), "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32"})
_INDEX_RESULTS = frozenset({"argmax", "argmin", "argsort"})
_MAX_DEPTH = 12


class Form(NamedTuple):
    """A tensor.

    `like` is the parameter whose shape it has; `dims` are the sizes as text, None where they are not known.
    `dtype` is a name, `like N` for that of a parameter, `default`, or "" if not known. `fewer` is a parameter that has
    more dimensions.
    """

    like: str = ""
    dims: tuple[str, ...] | None = None
    dtype: str = ""
    fewer: str = ""


_UNKNOWN = Form()


class Forms:
    """The forms of the expressions of one function."""

    def __init__(self, function: FunctionNode) -> None:
        arguments = function.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        self._parameters = {name: f"${index}" for index, name in enumerate(names)}
        self._values: dict[str, ast.expr | None] = {}
        if isinstance(function, ast.Lambda):
            return
        nodes = list(own_scope(function))
        stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        self._values = dict.fromkeys(stored)
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if stored[name] == 1 and name not in self._parameters:
                    self._values[name] = node.value

    def of(self, node: ast.expr, depth: int = 0) -> Form:
        """The form of the tensor that an expression makes."""
        if depth > _MAX_DEPTH:
            return _UNKNOWN
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        if isinstance(node, ast.BinOp):
            return self._of_operator(node, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.of(node.operand, depth + 1)
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            return self.of(node.left, depth + 1)._replace(dtype="bool")
        return _UNKNOWN

    def _of_name(self, name: str, depth: int) -> Form:
        value = self._values.get(name)
        if value is not None:
            return self.of(value, depth + 1)
        position = self._parameters.get(name)
        if position is None or name in self._values:
            return _UNKNOWN
        return Form(position, None, f"like {position}")

    def _of_operator(self, node: ast.BinOp, depth: int) -> Form:
        left, right = self.of(node.left, depth + 1), self.of(node.right, depth + 1)
        for form, other, operand in ((left, right, node.right), (right, left, node.left)):
            if isinstance(operand, ast.Constant):
                whole = isinstance(operand.value, int) and not isinstance(node.op, ast.Div)
                return form if whole else form._replace(dtype="")
            if form == other:
                return form
        return _UNKNOWN

    def _of_call(self, node: ast.Call, depth: int) -> Form:
        name = last_name(node.func)
        of_torch = isinstance(node.func, ast.Attribute) and _root(node.func) in ("torch", "F")
        method = isinstance(node.func, ast.Attribute) and not of_torch
        operand = node.func.value if isinstance(node.func, ast.Attribute) and method else next(iter(node.args), None)
        given = node.args if method else node.args[1:]
        if operand is None or not (of_torch or method):
            return _UNKNOWN
        if name in _MAKERS and of_torch:
            return Form("", self._sizes(node, node.args, single=name == "full"), self._dtype(node) or "default")
        form = self.of(operand, depth + 1)
        if name in _LIKE:
            return form._replace(dtype=self._dtype(node) or form.dtype)
        if name in _NEW and method:
            return Form("", self._sizes(node, given, single=name == "new_full"), self._dtype(node) or form.dtype)
        if name in _CASTS and method and not given:
            return form._replace(dtype=_CASTS[name])
        if name in ("to", "type", "type_as"):
            named = _dtype_name(given[0]) if given else ""
            return form._replace(dtype=self._dtype(node) or named)
        plain = not node.keywords
        if name in _SAME and (plain or name in ("clamp", "clone")):
            return form if not given or all(isinstance(each, ast.Constant) for each in given) else _UNKNOWN
        if name in _SAME_SHAPE:
            simple = not given or all(isinstance(each, (ast.Constant, ast.UnaryOp)) for each in given)
            return form._replace(dtype="") if simple else _UNKNOWN
        if name == "arange" and of_torch and len(node.args) == 1:
            whole = self._is_size(operand) or isinstance(getattr(operand, "value", None), int)
            return Form("", (self._size(operand),), self._dtype(node) or ("int64" if whole else ""))
        return _reduced(node, name, form, given)

    def _sizes(self, node: ast.Call, given: Sequence[ast.expr], *, single: bool) -> tuple[str, ...] | None:
        sizes = list(given[:1]) if single else list(given)
        sizes = sizes or [keyword.value for keyword in node.keywords if keyword.arg == "size"]
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = list(sizes[0].elts)
        elif len(sizes) == 1 and not isinstance(sizes[0], ast.Constant) and not self._is_size(sizes[0]):
            return None
        if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
            return None
        return tuple(self._size(size) for size in sizes)

    def _is_size(self, node: ast.expr) -> bool:
        """Whether an expression surely is one number: `x.shape[0]`, `x.size(0)`, or arithmetic."""
        if isinstance(node, ast.BinOp):
            return self._is_size(node.left) or isinstance(node.left, ast.Constant)
        if isinstance(node, ast.Subscript):
            return last_name(node) == "shape" and not isinstance(node.slice, ast.Slice)
        return isinstance(node, ast.Call) and last_name(node) in ("size", "numel", "len") and bool(node.args)

    def _size(self, node: ast.expr) -> str:
        """The text of a size, parameters by their position, `x.size(0)` as `x.shape[0]`."""
        if isinstance(node, ast.Name) and self._values.get(node.id) is not None:
            value = self._values[node.id]
            return self._size(value) if value is not None else ""
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
                return _dtype_name(keyword.value) or self._dtype_of(keyword.value) or "?"
        return ""

    def _dtype_of(self, node: ast.expr) -> str:
        """`x.dtype`."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and isinstance(node.value, ast.Name):
            return self._of_name(node.value.id, 0).dtype
        return ""


def _reduced(node: ast.Call, name: str, form: Form, given: Sequence[ast.expr]) -> Form:
    """The form of what reduces a tensor of another form, over one dimension or all of them."""
    whole = not node.keywords and not given
    if name in _ALONG and form.like and _drops_dimension(node, given):
        return Form(dtype="int64" if name in _INDEX_RESULTS else "", fewer=form.like)
    if name in _REDUCTIONS and whole:
        return Form("", (), "bool" if name in ("any", "all") else "")
    if name in _INDEX_RESULTS:
        return Form("", () if whole and name != "argsort" else None, "int64")
    return _UNKNOWN


def _drops_dimension(node: ast.Call, given: Sequence[ast.expr]) -> bool:
    """Whether a reduction is told a dimension, and not to keep it."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    dimension = keywords.get("dim", given[0] if given else None)
    negative = isinstance(dimension, ast.UnaryOp) and isinstance(dimension.operand, ast.Constant)
    return (
        (isinstance(dimension, (ast.Constant, ast.Tuple)) or negative) and len(given) < 2 and "keepdim" not in keywords
    )


def _dtype_name(node: ast.expr) -> str:
    name = last_name(node) if isinstance(node, ast.Attribute) and _root(node) == "torch" else ""
    name = _SPELLINGS.get(name, name)
    return name if name in _DTYPES else ""


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


# -- comparison ---------------------------------------------------------------------------------------------------


def difference(real: Form, fake: Form) -> str:
    """How a fake's tensor visibly differs from the real one, as the end of a sentence; "" if nothing tells."""
    return _ranks(real, fake) or _shapes(real, fake) or _dtypes(real.dtype, fake.dtype)


def _ranks(real: Form, fake: Form) -> str:
    if real.fewer and fake.like == real.fewer:
        return "has the shape of an argument where the function's has fewer dimensions"
    if fake.fewer and real.like == fake.fewer:
        return "has fewer dimensions than the argument whose shape the function's has"
    return ""


def _shapes(real: Form, fake: Form) -> str:
    if real.dims is not None and fake.dims is not None:
        if len(real.dims) != len(fake.dims):
            return f"has {_count(len(fake.dims))} where the function's has {_count(len(real.dims))}"
        for index, (left, right) in enumerate(zip(real.dims, fake.dims, strict=True)):
            if _differ(left, right):
                return f"differs in dimension {index}"
    if real.dims == () and fake.like:
        return f"has the shape of an argument where the function's has {_count(0)}"
    if real.like and fake.dims is not None:
        if fake.dims and all(size.isdigit() for size in fake.dims):
            return "has a fixed shape where the function's has that of an argument"
        for index, size in enumerate(fake.dims):
            if _differ(f"{real.like}.shape[{index}]", size):
                return f"differs in dimension {index}"
        if fake.dims == ():
            return f"has {_count(0)} where the function's has the shape of an argument"
    return ""


def _count(dimensions: int) -> str:
    return "no dimensions" if not dimensions else f"{dimensions} dimension{'s' if dimensions > 1 else ''}"


def _differ(left: str, right: str) -> bool:
    """Whether two sizes surely differ: other numbers, or one is the other plus, minus or times a number."""
    if left.isdigit() and right.isdigit():
        return left != right
    for plain, other in ((left, right), (right, left)):
        for operator, neutral in (("Add", "0"), ("Sub", "0"), ("Mult", "1"), ("FloorDiv", "1")):
            start = f"({plain} {operator} "
            if "?" not in plain and other.startswith(start):
                number = other[len(start) : -1]
                return number.isdigit() and number != neutral
    return False


def _dtypes(real: str, fake: str) -> str:
    """Only dtypes that are named tell: what follows an argument may be any."""
    named = real in _DTYPES
    if named and fake in _DTYPES and real != fake:
        return f"is {fake} where the function's is {real}"
    if named and (fake.startswith("like") or fake == "default") and not (fake == "default" and real == "float32"):
        of = "the default dtype" if fake == "default" else "the dtype of an argument"
        return f"has {of} where the function's is {real}"
    return ""


def is_default(real: Form, fake: Form) -> bool:
    """Whether the fake's tensor has the default dtype where the real one has that of an argument."""
    return real.dtype.startswith("like") and fake.dtype == "default"


def tensors_in(node: ast.expr) -> list[ast.expr]:
    """The elements of a literal tuple or list, or the expression itself."""
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else [node]


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name stands in an expression."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node))
