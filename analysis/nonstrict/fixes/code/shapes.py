"""What a function returns as an expression of its parameters that reads no data: tensors with the result's shape.

Such an expression is what a fake can return. It is told from the text: local variables are replaced by what they are
set to, numbers that only scale a tensor by any number of their type, and operators that keep shape and dtype left out.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope
from nonstrict.fixes.code.names import dotted, meaning, spelled
from nonstrict.knowledge import arrays
from nonstrict.knowledge.dtypes import DTYPES
from nonstrict.knowledge.operators import (
    Operator,
    reshapes,
    tensor_attribute,
    tensor_method,
    torch_function,
    torch_kind,
)
from nonstrict.program.contracts.marks.tensor_forms import Forms
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.fixes.code.documents import Document

#: What is nested deeper than this is no expression that anybody wants in a fake.
_NESTED_TERMS = 12
#: What turns a tensor into an array and back, or is the same for both.
_ARRAYS = frozenset({"numpy", "from_numpy", "asarray", "as_tensor", "ascontiguousarray"})
#: Makers of tensors from numbers, beside those that are given the shape.
_RANGES = frozenset({"arange", "linspace", "eye"})
_SIZES = frozenset({"shape", "dtype", "device", "ndim", "itemsize"})
_COUNTS = re.compile(r"\.shape\[|\.(?:size|stride)\([^)]|\.(?:numel|dim|nelement)\(|\.ndim$|^len\(")
#: What gives a tensor another layout, which a fake has to tell too.
_LAYOUTS = re.compile(r"\b(?:contiguous|flip|roll|memory_format)\b")
#: Functions whose method is that of another argument than the first: `x.where(condition, y)`.
_OTHER_ORDER = frozenset({"where", "polygamma"})
#: What `torch.where` chooses from: the size of what it gives without these depends on data.
_SIDES = 2
#: Operators of Python that give a tensor the dtype of its operand if the other one is a whole number.
_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_NUMBERS = {"int": "1", "float": "1.0", "bool": "True"}


class Shapes:
    """The shapes of the expressions of one function.

    `tensors` are the parameters that surely are tensors, `numbers` the types of those that are numbers, where no
    annotation says so.
    """

    def __init__(
        self, document: Document, function: ast.FunctionDef, tensors: AbstractSet[str], numbers: Mapping[str, str]
    ) -> None:
        self.document = document
        self.torch = spelled(document, "torch").text
        self._tensors = tensors
        self._forms = Forms(function, meaning(document))
        arguments = function.args
        ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self._names = [each.arg for each in ordered]
        annotated = {each.arg: each.annotation.id for each in ordered if isinstance(each.annotation, ast.Name)}
        self._numbers = {**numbers, **annotated}
        self._values: dict[str, list[ast.expr]] = {}
        self._opaque: set[str] = set()
        self._sizes: dict[str, str] = {}
        self._busy: set[str] = set()
        unpacked: list[tuple[ast.expr, ast.expr]] = []
        for node in own_scope(function):
            unpacked += self._note(node)
        for target, value in unpacked:
            self._unpack(target, value)
        #: whether NumPy takes part, which has other rules for what becomes a floating-point number
        self.assumed = False

    def _note(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Record what a statement makes of local names; what it takes apart is told."""
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    self._values.setdefault(target.id, []).append(node.value)
                else:
                    yield target, node.value
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._opaque |= _stored(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._opaque |= _stored(node.optional_vars)
        elif isinstance(node, ast.NamedExpr):
            self._opaque |= _stored(node.target)
        elif isinstance(node, ast.Call) and reshapes(last_name(node)) and isinstance(node.func, ast.Attribute):
            self._opaque |= {getattr(node.func.value, "id", "")}

    def _unpack(self, target: ast.expr, value: ast.expr) -> None:
        """`b, n = x.shape` names sizes; what else is unpacked is not known."""
        known = isinstance(value, ast.Attribute) and value.attr == "shape" and isinstance(target, ast.Tuple)
        if known and isinstance(target, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in target.elts):
            of = self.like(value.value) if isinstance(value, ast.Attribute) else None
            for index, one in enumerate(target.elts):
                if isinstance(one, ast.Name) and of is not None and one.id not in self._sizes:
                    self._sizes[one.id] = f"{of}.shape[{index}]"
            return
        self._opaque |= _stored(target)

    # -- tensors ------------------------------------------------------------------------------------------------------

    def result(self, node: ast.expr) -> str | None:
        """A new tensor with the shape and dtype of an expression; None if the text does not tell."""
        like = self.like(node)
        if like is None:
            return None
        made = tree_of(like, "eval").body
        if isinstance(made, ast.Call) and self._makes(made):
            return like
        return f"{self.torch}.empty_like({like})"

    def _makes(self, call: ast.Call) -> bool:
        name, function = last_name(call), self._function(call)
        if function is None:
            method = tensor_method(name)
            return method is not None and method.sized
        return function.sized or name in _RANGES or name == "empty_like"

    def like(self, node: ast.expr, depth: int = 0) -> str | None:
        """An expression of the parameters whose tensor has the shape and dtype of another one."""
        if depth > _NESTED_TERMS:
            return None
        kept = self._kept(node)
        if kept:
            return kept
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.BinOp):
            return self._of_operator(node, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Invert)):
            return self.like(node.operand, depth + 1)
        if isinstance(node, ast.IfExp):
            return self._same(self.like(one, depth + 1) for one in (node.body, node.orelse))
        if isinstance(node, ast.Subscript):
            of, index = self.like(node.value, depth + 1), self._index(node.slice, depth + 1)
            return f"{of}[{index}]" if of is not None and index is not None else None
        if isinstance(node, ast.Attribute) and tensor_attribute(node.attr) == "tensor":
            of = self.like(node.value, depth + 1)
            return f"{of}.{node.attr}" if of is not None and node.attr not in ("grad", "data") else None
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def _kept(self, node: ast.expr) -> str:
        """A parameter whose shape an expression has, and its dtype or one that is named."""
        form = self._forms.of(node)
        if not form.like or form.moved or isinstance(node, ast.Name) or self._has_layout(node):
            return ""
        name = self._names[int(form.like[1:])]
        if name not in self._tensors or name in self._opaque or name in self._values:
            return ""
        if form.dtype == f"like {form.like}":
            return name
        return f"{self.torch}.empty_like({name}, dtype={self.torch}.{form.dtype})" if form.dtype in DTYPES else ""

    def _has_layout(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression, or what it reads of local variables, gives a tensor another layout."""
        if depth > _NESTED_TERMS or _LAYOUTS.search(ast.unparse(node)):
            return True
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return any(self._has_layout(value, depth + 1) for name in names for value in self._values.get(name, ()))

    def _of_name(self, name: str, depth: int) -> str | None:
        if name in self._opaque or name in self._sizes:
            return None
        if name in self._busy or name not in self._values:
            return name if name in self._tensors else None
        self._busy.add(name)
        found = self._same(self.like(value, depth + 1) for value in self._values[name])
        self._busy.discard(name)
        return found if name not in self._tensors or found == name else None

    def _same(self, found: Iterator[str | None]) -> str | None:
        every = set(found)
        return next(iter(every)) if len(every) == 1 else None

    def _of_operator(self, node: ast.BinOp, depth: int) -> str | None:
        left, right = self.like(node.left, depth + 1), self.like(node.right, depth + 1)
        if left is not None and right is not None:
            kept = left == right and isinstance(node.op, (*_WHOLE, ast.BitAnd, ast.BitOr, ast.BitXor))
            return left if kept else ast.unparse(_operation(left, node.op, right))
        tensor, other = (left, node.right) if left is not None else (right, node.left)
        number = self._number(other, depth + 1)
        if tensor is None or number is None:
            return None
        truths = self._forms.of(node.left if left is not None else node.right).dtype == "bool"
        whole = number in ("int", "bool") and isinstance(node.op, _WHOLE) and not truths
        squared = isinstance(node.op, ast.Pow) and left is not None and number == "int" and not truths
        if whole or squared:
            return tensor
        text = self.pure(other, depth + 1) or _NUMBERS[number]
        pair = (tensor, text) if left is not None else (text, tensor)
        return ast.unparse(_operation(pair[0], node.op, pair[1]))

    # -- calls --------------------------------------------------------------------------------------------------------

    def _of_call(self, node: ast.Call, depth: int) -> str | None:
        function = self._function(node)
        name = last_name(node)
        if function is not None and (function.sized or name in _RANGES):
            return self._written(node, ast.unparse(node.func), node.args, depth)
        if function is not None and name == "from_numpy" and len(node.args) == 1:
            self.assumed = True
            return self.like(node.args[0], depth + 1)
        called = dotted(self.document, node.func)
        if called.startswith("numpy.") and node.args:
            self.assumed = True
            plain = all(self._number(one, depth + 1) for one in node.args[1:]) and not node.keywords
            kept = arrays.keeps_shape(name) or name in _ARRAYS
            return self.like(node.args[0], depth + 1) if kept and plain else None
        if function is not None:
            has_method = name not in _OTHER_ORDER and tensor_method(name) is not None
            if called == f"torch.{name}" and node.args and has_method:
                return self._method(node, node.args[0], name, node.args[1:], depth)
            usable = bool(node.args) and _is_usable(function, node, node.args[1:])
            return self._written(node, ast.unparse(node.func), node.args, depth) if usable else None
        return self._of_method(node, depth) if isinstance(node.func, ast.Attribute) and not called else None

    def _of_method(self, node: ast.Call, depth: int) -> str | None:
        if not isinstance(node.func, ast.Attribute):
            return None
        return self._method(node, node.func.value, node.func.attr, node.args, depth)

    def _method(self, node: ast.Call, receiver: ast.expr, name: str, given: list[ast.expr], depth: int) -> str | None:
        """What a method gives, or the function of the same name."""
        of = self.like(receiver, depth + 1)
        if of is None:
            return None
        if name in _ARRAYS and not given:
            return of
        method = tensor_method(name)
        in_place = method is not None and method.mutates == (0,) and name.endswith("_") and not method.reshapes
        if in_place and method is not None and method.returns == "tensor":
            return of
        if method is None or not _is_usable(method, node, given):
            return None
        return self._written(node, f"{of}.{name}", given, depth)

    def _function(self, node: ast.Call) -> Operator | None:
        """The function of torch that is called."""
        name = dotted(self.document, node.func)
        return torch_function(name) if name else None

    def _written(self, node: ast.Call, callee: str, args: list[ast.expr], depth: int) -> str | None:
        """A call, its arguments in terms of the parameters."""
        parts: list[str] = []
        for each in (*args, *node.keywords):
            value = each.value if isinstance(each, ast.keyword) else each
            text = self.pure(value, depth + 1) or self.like(value, depth + 1) or self._several(value, depth + 1)
            if text is None or (isinstance(each, ast.keyword) and each.arg in (None, "out")):
                return None
            parts.append(f"{each.arg}={text}" if isinstance(each, ast.keyword) else text)
        return f"{callee}({', '.join(parts)})"

    def _several(self, node: ast.expr, depth: int) -> str | None:
        """A literal list or tuple of tensors."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return None
        found = [self.like(one, depth + 1) for one in node.elts]
        return f"[{', '.join(one for one in found if one)}]" if all(found) else None

    # -- sizes and numbers --------------------------------------------------------------------------------------------

    def pure(self, node: ast.expr, depth: int = 0) -> str | None:
        """An expression of sizes, settings and numbers that are arguments, in terms of the parameters."""
        if depth > _NESTED_TERMS:
            return None
        if isinstance(node, ast.Constant):
            return ast.unparse(node)
        if isinstance(node, ast.Name):
            return self._pure_name(node.id, depth)
        if isinstance(node, ast.Attribute):
            return self._pure_attribute(node, depth)
        if isinstance(node, ast.Call):
            return self._pure_call(node, depth)
        if isinstance(node, (ast.Tuple, ast.List)):
            parts = [self.pure(one, depth + 1) for one in node.elts]
            if any(part is None for part in parts):
                return None
            inner = ", ".join(part for part in parts if part is not None)
            alone = "," if isinstance(node, ast.Tuple) and len(parts) == 1 else ""
            return f"({inner}{alone})" if isinstance(node, ast.Tuple) else f"[{inner}]"
        return self._pure_operation(node, depth)

    def _pure_name(self, name: str, depth: int) -> str | None:
        if name in self._sizes:
            return self._sizes[name]
        if name in self._opaque or name in self._tensors or name in self._busy:
            return None
        if name in self._values:
            self._busy.add(name)
            values = [self.pure(value, depth + 1) for value in self._values[name]]
            self._busy.discard(name)
            return values[0] if len(values) == 1 and name not in self._names else None
        constant = name.isupper() and any(_assigns(one, name) for one in self.document.tree.body)
        return name if name in self._names or constant else None

    def _pure_attribute(self, node: ast.Attribute, depth: int) -> str | None:
        name = dotted(self.document, node)
        if name:
            return ast.unparse(node) if torch_kind(name) in ("dtype", "constant") else None
        of = self.like(node.value, depth + 1) if node.attr in _SIZES else None
        return f"{of}.{node.attr}" if of is not None else None

    def _pure_call(self, node: ast.Call, depth: int) -> str | None:
        given = [self.pure(one, depth + 1) for one in node.args]
        if node.keywords or any(one is None for one in given):
            of = self.like(node.args[0], depth + 1) if last_name(node) == "len" and len(node.args) == 1 else None
            return f"len({of})" if of is not None else None
        inner = ", ".join(one for one in given if one is not None)
        if isinstance(node.func, ast.Name) and node.func.id in ("int", "len", "max", "min", "abs"):
            return f"{node.func.id}({inner})"
        method = tensor_method(node.func.attr) if isinstance(node.func, ast.Attribute) else None
        if not isinstance(node.func, ast.Attribute) or method is None or not method.tells_form:
            return None
        of = self.like(node.func.value, depth + 1)
        return f"{of}.{node.func.attr}({inner})" if of is not None else None

    def _index(self, node: ast.expr, depth: int) -> str | None:
        """What stands between the brackets: `:, 0`, which is no tuple that could stand elsewhere."""
        text = self.pure(node, depth)
        several = isinstance(node, ast.Tuple) and len(node.elts) > 1
        return text[1:-1] if several and text is not None else text

    def _pure_operation(self, node: ast.expr, depth: int) -> str | None:
        if isinstance(node, ast.Starred):
            inner = self.pure(node.value, depth + 1)
            return f"*{inner}" if inner is not None else None
        if isinstance(node, ast.BinOp):
            left, right = self.pure(node.left, depth + 1), self.pure(node.right, depth + 1)
            both = left is not None and right is not None
            return ast.unparse(_operation(left or "", node.op, right or "")) if both else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.pure(node.operand, depth + 1)
            return f"-{operand}" if operand is not None else None
        if isinstance(node, ast.Slice):
            parts = [self.pure(one, depth + 1) if one is not None else "" for one in (node.lower, node.upper)]
            step = self.pure(node.step, depth + 1) if node.step is not None else ""
            if None in parts or step is None:
                return None
            return f"{parts[0]}:{parts[1]}" + (f":{step}" if step else "")
        if isinstance(node, ast.Subscript):
            of, index = self.pure(node.value, depth + 1), self.pure(node.slice, depth + 1)
            return f"{of}[{index}]" if of is not None and index is not None else None
        return None

    def _number(self, node: ast.expr, depth: int) -> str | None:
        """The type of what surely is a Python number: `int`, `float` or `bool`."""
        if depth > _NESTED_TERMS:
            return None
        if isinstance(node, ast.Constant):
            name = type(node.value).__name__
            return name if name in _NUMBERS else None
        if isinstance(node, ast.Name) and node.id not in self._values and node.id not in self._opaque:
            kind = self._numbers.get(node.id)
            return kind if kind in _NUMBERS else self._counted(node, depth)
        if isinstance(node, ast.Name) and len(self._values.get(node.id, [])) == 1 and node.id not in self._opaque:
            return self._number(self._values[node.id][0], depth + 1)
        if isinstance(node, ast.IfExp):
            return self._same(self._number(one, depth + 1) for one in (node.body, node.orelse))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._number(node.operand, depth + 1)
        if isinstance(node, ast.BinOp):
            kinds = {self._number(one, depth + 1) for one in (node.left, node.right)}
            if None in kinds:
                return None
            return "float" if "float" in kinds or isinstance(node.op, ast.Div) else "int"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("int", "float", "len"):
            return "float" if node.func.id == "float" else "int"
        return self._counted(node, depth)

    def _counted(self, node: ast.expr, depth: int) -> str | None:
        """`int` where an expression is a size of a tensor."""
        text = self.pure(node, depth + 1)
        return "int" if text is not None and _COUNTS.search(text) else None


def _is_usable(operator: Operator, call: ast.Call, given: Sequence[ast.expr]) -> bool:
    """Whether a fake may call an operator: it makes one tensor, changes none and needs no data."""
    if operator.returns != "tensor" or operator.mutates or operator.data_dependent or operator.dynamic_shape:
        return False
    further = bool(given or call.keywords)
    several = further and operator.dim_returns not in ("", "tensor")
    fixed = not operator.dynamic_arity or (last_name(call) == "where" and len(given) == _SIDES)
    return not several and fixed and all(one.arg != "inplace" for one in call.keywords)


def _operation(left: str, operator: ast.operator, right: str) -> ast.BinOp:
    sides = [tree_of(text, "eval").body for text in (left, right)]
    return ast.BinOp(sides[0], operator, sides[1])


def _stored(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _assigns(statement: ast.stmt, name: str) -> bool:
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return isinstance(value, ast.Constant) and any(getattr(one, "id", "") == name for one in targets)
