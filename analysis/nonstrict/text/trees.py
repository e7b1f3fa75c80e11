"""`ast.parse` for several threads: the language server analyses in one and prepares experiments in others."""

from __future__ import annotations

import ast
from _thread import RLock
from typing import Literal, overload

#: CPython counts the depth of the tree it builds per interpreter, not per thread: where a collection of garbage lets
#: another thread in, both fail with "SystemError: AST constructor recursion depth mismatch" (seen on 3.11.7).
_ONE_AT_A_TIME = RLock()


@overload
def tree_of(text: str, mode: Literal["exec"] = "exec", path: str = ...) -> ast.Module: ...
@overload
def tree_of(text: str, mode: Literal["eval"], path: str = ...) -> ast.Expression: ...
def tree_of(text: str, mode: Literal["exec", "eval"] = "exec", path: str = "<unknown>") -> ast.Module | ast.Expression:
    """The tree of a module, or of an expression. Raises what `ast.parse` does."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, path) if mode == "exec" else ast.parse(text, path, mode)
