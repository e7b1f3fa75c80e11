"""Annotations, as objects or as strings, in one form: a `Type` with arguments.

Strings are evaluated where that works and parsed where it does not: the names may be imported for type checkers only,
and jaxtyping (https://docs.kidger.site/jaxtyping/api/array/) need not be installed for `Float[Tensor, "batch 4"]`.
"""

from __future__ import annotations

import ast
import collections.abc
import types
import typing
from typing import Any, NamedTuple

if typing.TYPE_CHECKING:
    from collections.abc import Mapping

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
# Last names of annotations that mean the same to the search.
_SAME = {
    "FloatTensor": "Tensor", "LongTensor": "LongTensor", "TensorLike": "Tensor", "TensorLikeType": "Tensor",
    "Parameter": "Tensor", "Array": "Tensor", "List": "list", "Sequence": "list", "Iterable": "list",
    "MutableSequence": "list", "Collection": "list", "Tuple": "tuple", "Dict": "dict", "Mapping": "dict",
    "MutableMapping": "dict", "NoneType": "None", "Number": "Number", "NumberType": "Number", "_int": "int",
    "_float": "float", "_bool": "bool", "_size": "ints", "SymInt": "int", "IntLikeType": "int", "DimsType": "ints",
    "ShapeType": "ints", "StrideType": "ints", "Size": "ints", "ModuleList": "Module",
}  # fmt: skip
_BROADCASTING = "BroadcastingList"
_JAX_DTYPES = {
    "Float": "float32", "Float16": "float16", "Float32": "float32", "Float64": "float64", "BFloat16": "bfloat16",
    "Num": "float32", "Shaped": "float32", "Inexact": "float32", "Real": "float32", "Complex": "complex64",
    "Int": "int64", "Int32": "int32", "Int64": "int64", "Integer": "int64", "UInt8": "uint8", "Bool": "bool",
}  # fmt: skip


class Type(NamedTuple):
    """An annotation: the last part of its name, its arguments, the values of a Literal, and the class, if one is known.

    For jaxtyping the name is "Tensor" and `dims` the text of its dimensions, `dtype` that of its numbers.
    """

    name: str
    args: tuple[Type, ...] = ()
    values: tuple[Any, ...] = ()
    cls: type | None = None
    dims: str | None = None
    dtype: str = ""


def read(annotation: object, names: Mapping[str, object]) -> Type | None:
    """The type that an annotation states; None where it states none. `names` is what its strings are evaluated in."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return _of_string(annotation, names)
    return _of_object(annotation, names)


def _of_object(annotation: Any, names: Mapping[str, object]) -> Type | None:
    if annotation is None or annotation is type(None):
        return Type("None")
    if annotation is Any or annotation is object:
        return None
    if isinstance(getattr(annotation, "dim_str", None), str):
        dtype = getattr(getattr(annotation, "dtype", None), "__name__", "Float")
        return Type("Tensor", dims=annotation.dim_str, dtype=_JAX_DTYPES.get(dtype, "float32"))
    if isinstance(annotation, typing.NewType):
        return read(annotation.__supertype__, names)
    if isinstance(annotation, typing.TypeVar):
        bound: Any = annotation.__bound__ or (annotation.__constraints__ or (None,))[0]
        return read(bound, names) if bound is not None else None
    return _of_generic(annotation, names)


def _of_generic(annotation: Any, names: Mapping[str, object]) -> Type | None:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return Type("Literal", values=args)
    if any(origin is each for each in _UNIONS):
        return Type("Union", tuple(found for each in args if (found := read(each, names)) is not None))
    if any(origin is each for each in (typing.Annotated, typing.Final, typing.ClassVar)) and args:
        return read(args[0], names)
    if origin is collections.abc.Callable or annotation is collections.abc.Callable or annotation is typing.Callable:
        count = len(args[0]) if args and isinstance(args[0], list) else 1
        return Type("Callable", (Type("any"),) * count)
    if origin is type:
        return Type("type")
    if isinstance(origin, type):
        inner = tuple(read(each, names) or Type("any") for each in args if each is not ...)
        return Type(_SAME.get(origin.__name__, origin.__name__), inner, cls=origin)
    if isinstance(annotation, type):
        return Type(_SAME.get(annotation.__name__, annotation.__name__), cls=annotation)
    return None


def _of_string(text: str, names: Mapping[str, object]) -> Type | None:
    try:
        evaluated: object = eval(text, {**vars(typing), **names})  # as the interpreter itself would  # noqa: S307
    except Exception:  # whatever its evaluation raises, the text can still be read  # noqa: BLE001
        evaluated = text
    if not isinstance(evaluated, str):
        return _of_object(evaluated, names)
    try:
        return _of_tree(ast.parse(evaluated.strip(), mode="eval").body, names)
    except SyntaxError:
        return None


def _of_tree(tree: ast.expr, names: Mapping[str, object]) -> Type | None:
    if isinstance(tree, ast.Constant):
        return (
            Type("None") if tree.value is None else _of_string(tree.value, {}) if isinstance(tree.value, str) else None
        )
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return Type("Union", tuple(t for each in (tree.left, tree.right) if (t := _of_tree(each, names)) is not None))
    if isinstance(tree, (ast.Name, ast.Attribute)):
        name = ast.unparse(tree)
        known = _known(name, names)
        if known is not None:
            return _of_object(known, names)
        last = name.rpartition(".")[2]
        return None if last in {"Any", "object"} else Type(_SAME.get(last, last))
    if isinstance(tree, ast.Subscript):
        return _of_subscript(tree, names)
    return None


def _of_subscript(tree: ast.Subscript, names: Mapping[str, object]) -> Type | None:
    name = ast.unparse(tree.value).rpartition(".")[2]
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if name == "Literal":
        return Type("Literal", values=tuple(each.value for each in parts if isinstance(each, ast.Constant)))
    if name in _JAX_DTYPES and len(parts) == 2 and isinstance(parts[1], ast.Constant):
        return Type("Tensor", dims=str(parts[1].value), dtype=_JAX_DTYPES[name])
    if name.startswith(_BROADCASTING):
        return Type("ints")
    if name == "Callable":
        return Type("Callable", (Type("any"),) * (len(parts[0].elts) if isinstance(parts[0], ast.List) else 1))
    inner = [each for each in parts if not (isinstance(each, ast.Constant) and each.value is ...)]
    args = tuple(_of_tree(each, names) or Type("any") for each in inner)
    if name == "Optional":
        return Type("Union", (*args, Type("None")))
    return args[0] if name in {"Annotated", "Final"} else Type(_SAME.get(name, name), args)


def _known(name: str, names: Mapping[str, object]) -> object:
    first, _, rest = name.partition(".")
    found = names.get(first)
    for part in rest.split(".") if rest else ():
        found = getattr(found, part, None)
    return found


class Sizes:
    """Named sizes of jaxtyping, the same wherever a name stands: batches are 2, all others differ from each other."""

    def __init__(self) -> None:
        self._named: dict[str, int] = {}

    def shape(self, dims: str) -> list[int]:
        """A shape for the text of dimensions: numbers, names, `...`, `*names`, `#names`, `_`, `name=4`, `name+1`."""
        shape: list[int] = []
        for word in dims.replace("#", "").replace("?", "").split():
            if word == "..." or word.startswith("*"):
                shape.append(2)
            else:
                shape.append(self._size(word.rpartition("=")[2]))
        return shape

    def _size(self, word: str) -> int:
        if word.startswith("_"):
            return 3
        if word.isidentifier():
            free = (size for size in (4, 6, 8, 3, 5, 7, *range(9, 99)) if size not in self._named.values())
            return self._named.setdefault(word, 2 if word in {"b", "batch", "bs", "B"} else next(free))
        try:
            names = {
                each.id for each in ast.walk(ast.parse(word.strip("{}"), mode="eval")) if isinstance(each, ast.Name)
            }
            known = {name: self._size(name) for name in sorted(names)}
            return max(int(eval(word.strip("{}"), {"__builtins__": {}}, known)), 1)  # noqa: S307
        except (SyntaxError, ValueError, NameError, TypeError, ZeroDivisionError):
            return 4
