"""Where the name that a finding is about is bound: in its module or an enclosing function, else as jedi finds it."""

from __future__ import annotations

import ast
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nonstrict.findings import Location
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Diagnostic
    from nonstrict.text.source import Source

#: Names that are bound elsewhere than where they are read are looked up in files of at most this size.
_MAX_CODE = 1_000_000


#: Jedi keeps what it read for all who ask, and is not made for several threads.
_ONE_AT_A_TIME = threading.Lock()


def definition_of(source: Source, finding: Diagnostic) -> list[Location]:
    """The places where the state that a finding is about is bound first; empty if it has no name.

    `source` is the text of its file. May be called in any thread.
    """
    if finding.subject is None or source.cells or len(source.code) > _MAX_CODE:
        return []
    with _ONE_AT_A_TIME:
        return list(_looked_up(source, finding.location))


def _looked_up(source: Source, where: Location) -> Iterator[Location]:
    """Where jedi says that the last name within a range comes from."""
    jedi: Any = import_module("jedi")
    row, column = _last_name(source, where)
    try:
        names: list[Any] = jedi.Script(source.code, path=source.path).goto(row, column, follow_imports=True)
    except Exception:  # noqa: BLE001 - jedi fails on some programs in many ways, and then nothing is found
        return
    for name in names:
        if name.module_path is not None and name.line is not None and name.column is not None:
            start: int = name.column + 1
            yield Location(str(name.module_path), name.line, start, name.line, start + len(name.name))


def _last_name(source: Source, where: Location) -> tuple[int, int]:
    """The row and the column (from 0) in the last name of an expression: of `CONFIG.scale[0]` that is `scale`."""
    text = source.line_text(where.row)[where.column - 1 : where.end_column - 1 if where.end_row == where.row else None]
    try:
        node: ast.expr = tree_of(text, "eval").body
    except (SyntaxError, ValueError):
        return where.row, where.column - 1
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    width = len(text[: node.end_col_offset]) if text.isascii() else len(text)
    return where.row, where.column - 1 + max(width - 1, 0)
