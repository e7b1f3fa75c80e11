"""Recorded calls for fixes: what `nonstrict record` and directives in the text say of the arguments of functions."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any

from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import torch_function
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.recordings import Recording


class Records:
    """The records that fixes asked for; nothing is read before."""

    def __init__(self) -> None:
        """Nothing has been asked yet."""
        #: paths that decided an answer, also of what is not there
        self.consulted: set[str] = set()

    def of(self, path: str, code: str, name: str, lines: tuple[int, int]) -> Iterator[Recording]:
        """The calls of a function of a file that hold for its present text, and the one that a directive states.

        `lines` are the first and the last line of the function.
        """
        from nonstrict.confirm.input_sources import directive
        from nonstrict.confirm.recorded import function_hashes, recorded_calls
        from nonstrict.fixes.recordings import Recording

        root = self._root(path)
        if root is not None:
            source = function_hashes(code).get(name, "")
            for call in recorded_calls(root, path, name, source):
                if not call.stale:
                    yield Recording(call.spec, call.result)
        stated = directive(*_surroundings(code, *lines))
        if stated:
            yield Recording(_specified(stated), None)

    def _root(self, path: str) -> str | None:
        """The nearest directory around a file that has a record of it."""
        from nonstrict.confirm.recorded import DIRECTORY, record_path

        file = os.path.realpath(path)
        root = os.path.dirname(file)
        while True:
            record = record_path(os.path.join(root, DIRECTORY), root, file)
            self.consulted.add(record)
            if os.path.isfile(record):
                return root
            if os.path.dirname(root) == root:
                return None
            root = os.path.dirname(root)


# -- directives -------------------------------------------------------------------------------------------------------

#: The default dtype, of which tensors are that are made of sizes alone.
_DEFAULT = "float32"


def _surroundings(code: str, first: int, last: int) -> tuple[str, int]:
    """A function with the comments above it, and the number of its first line there."""
    lines = code.split("\n")
    start = first - 1
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return "\n".join(lines[start:last]), first - start


def _specified(expression: str) -> dict[str, Any]:
    """The arguments of `inputs(x=torch.randn(2, 3))` as a record describes them, as far as the text tells."""
    try:
        call = tree_of(expression, "eval").body
    except (SyntaxError, ValueError):
        call = None
    if not isinstance(call, ast.Call):
        return {"args": [], "kwargs": {}}
    keywords = {one.arg: _specification(one.value) for one in call.keywords if one.arg is not None}
    return {"args": [_specification(one) for one in call.args], "kwargs": keywords}


def _specification(node: ast.expr) -> dict[str, Any]:
    if isinstance(node, ast.Constant):
        return {"kind": "literal", "value": node.value}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return {"kind": "unknown"}
    operator = torch_function(f"torch.{node.func.attr}")
    if operator is None or not operator.spread:
        return {"kind": "unknown"}
    given = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], (ast.Tuple, ast.List)) else node.args
    sizes = [one.value for one in given if isinstance(one, ast.Constant)]
    dtypes = [last_name(one.value) for one in node.keywords if one.arg == "dtype"]
    if getattr(node.func.value, "id", "") != "torch" or len(sizes) != len(given):
        return {"kind": "unknown"}
    dtype = dtypes[0] if dtypes else _DEFAULT
    return {"kind": "tensor", "shape": sizes, "dtype": dtype, "device": "cpu"}
