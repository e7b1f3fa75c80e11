"""Results as annotations of jaxtyping promise them, `Float[Tensor, "batch width"]`, by the sizes of arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.fixes.code.names import dotted
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.fixes.code.documents import Document

#: Annotations of tensors of one dtype, by the name of that in torch.
_EXACT = {
    **{f"Float{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"Int{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"Complex{bits}": f"complex{bits}" for bits in (64, 128)},
    "BFloat16": "bfloat16",
    "UInt8": "uint8",
    "Bool": "bool",
}
_TENSORS = frozenset({"torch.Tensor", "torch.FloatTensor"})


class Promise(NamedTuple):
    """An annotation: the name of its class in jaxtyping, and its dimensions."""

    dtype: str
    dimensions: tuple[str, ...]


def promised(document: Document, function: ast.FunctionDef, torch: str) -> list[str] | None:
    """The results that the annotations tell, one alone for a single tensor; None where they do not."""
    arguments = function.args
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    given = {one.arg: promise for one in ordered if (promise := _promise(document, one.annotation)) is not None}
    parts = _parts(document, function.returns)
    promises = [_promise(document, part) for part in parts]
    results = [_result(one, given, torch) if one is not None else None for one in promises]
    known = [result for result in results if result is not None]
    return known if known and len(known) == len(parts) else None


def _parts(document: Document, node: ast.expr | None) -> list[ast.expr | None]:
    if isinstance(node, ast.Subscript) and _is_tuple(document, node.value):
        return [*node.slice.elts] if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [node]


def is_several(document: Document, function: ast.FunctionDef) -> bool:
    """Whether a function is annotated to return a tuple."""
    return isinstance(function.returns, ast.Subscript) and _is_tuple(document, function.returns.value)


def _is_tuple(document: Document, node: ast.expr) -> bool:
    return getattr(node, "id", "") == "tuple" or dotted(document, node) == "typing.Tuple"


def _promise(document: Document, node: ast.expr | None) -> Promise | None:
    """What `Float[Tensor, "batch width"]` says; None for other annotations."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
        return None
    package, _, name = dotted(document, node.value).rpartition(".")
    of, sizes = node.slice.elts
    if package != "jaxtyping" or dotted(document, of) not in _TENSORS:
        return None
    if not isinstance(sizes, ast.Constant) or not isinstance(sizes.value, str):
        return None
    return Promise(name, tuple(sizes.value.split()))


def _result(promise: Promise, given: Mapping[str, Promise], torch: str) -> str | None:
    dtype = _EXACT.get(promise.dtype)
    base = next((name for name, one in given.items() if one.dtype == promise.dtype), None)
    if base is None and dtype is None:
        return None
    holder = base if base is not None else next(iter(given), "")
    further = f", dtype={torch}.{dtype}" if base is None else ""
    for name in dict.fromkeys([holder, *given]):
        same = name in given and given[name].dimensions == promise.dimensions and _is_plain(promise)
        if same and (further or given[name].dtype == promise.dtype):
            return f"{torch}.empty_like({name}{further})"
    sizes = [_size(one, given) for one in promise.dimensions]
    if not holder or any(size is None for size in sizes):
        return None
    shape = ", ".join(size for size in sizes if size is not None)
    return f"{holder}.new_empty(({shape}{',' if len(sizes) == 1 else ''}){further})"


def _is_plain(promise: Promise) -> bool:
    """Whether equal words are equal sizes: `_`, `...` and `#n` stand for several."""
    return not any(word.startswith(("_", "...", "#", "?", "*#")) for word in promise.dimensions)


def _size(word: str, given: Mapping[str, Promise]) -> str | None:
    """One size of a result: a number, a dimension of an argument, or computed from such."""
    if word.isdigit():
        return word
    try:
        tree = tree_of(word, "eval").body
    except SyntaxError:
        return None
    allowed = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
    if any(not isinstance(part, allowed) for part in ast.walk(tree)):
        return None
    names = {part.id: _dimension(part.id, given) for part in ast.walk(tree) if isinstance(part, ast.Name)}
    if None in names.values():
        return None
    return ast.unparse(_Named({name: text for name, text in names.items() if text is not None}).visit(tree))


class _Named(ast.NodeTransformer):
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return tree_of(self._texts[node.id], "eval").body


def _dimension(word: str, given: Mapping[str, Promise]) -> str | None:
    """The size of an argument that a name stands for, counted from the end behind what may be several."""
    for name, promise in given.items():
        if word not in promise.dimensions:
            continue
        index = promise.dimensions.index(word)
        several = [number for number, one in enumerate(promise.dimensions) if one.startswith(("*", "..."))]
        if not several or index < several[0]:
            return f"{name}.shape[{index}]"
        return f"{name}.shape[{index - len(promise.dimensions)}]"
    return None
