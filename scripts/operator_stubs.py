"""What torch's type stubs say of its operators, for `generate_operators.py`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def stub_returns(path: Path, owner: str | None = None) -> dict[str, list[tuple[str, bool, bool]]]:
    """Overloads in a stub file: name -> [(kind of result, has a `dim` argument, has an `out` argument)]."""
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    if owner is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    found: dict[str, list[tuple[str, bool, bool]]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            arguments = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            kind = annotation_kind(ast.unparse(node.returns))
            found.setdefault(node.name, []).append((kind, bool({"dim", "dims"} & arguments), "out" in arguments))
    return found


def annotation_kind(text: str) -> str:
    """The kind of value that a return annotation promises; `other` when it does not say."""
    plain = text.replace("torch.", "").replace("typing_extensions.", "").replace("typing.", "")
    plain = plain.replace("builtins.", "").strip("'\" ")
    if plain.startswith(("TypeIs", "TypeGuard", "_TypeIs", "_TypeGuard")):
        return "bool"
    if plain in {"Tensor", "Self", "TensorBase"}:
        return "tensor"
    if plain.startswith(("return_types.", "namedtuple_")) or ("Tensor" in plain and plain[:5].lower() in LISTS):
        return "tensors"
    if "Tensor" in plain:
        return "tensor"
    if plain in {"Size", "tuple[_int, ...]", "Tuple[_int, ...]", "tuple[int, ...]"}:
        return "size"
    if plain in {"_bool", "bool"}:
        return "bool"
    if plain in {"_int", "_float", "_complex", "int", "float", "complex", "Number", "SymInt", "_int | SymInt"}:
        return "number"
    if plain in {"dtype", "_dtype", "str", "device", "_layout"}:
        return "value"
    return "none" if plain == "None" else "other"


LISTS = ("tuple", "list[", "union"[:5], "seque")
