"""The `forward` of a module hands its work to a method that can be marked."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.documents import first_line
from nonstrict.fixes.code.edits import inserted
from nonstrict.fixes.code.lists import parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_NAME = re.compile(r"def\s+(?=forward\b)")


def mark_other_method(context: Context) -> Iterator[Fix]:
    """`@nonstrict_trace` stays on `_forward`, which a new `forward` calls with all that it gets."""
    function = context.body.mark.function
    found = context.definition(function) if function is not None and context.body.applied.is_called_by_module else None
    document, node = found if found is not None else (None, None)
    if document is None or not isinstance(node, ast.FunctionDef) or not node.decorator_list:
        return
    name = _NAME.search(document.code, *document.bounds(node))
    if re.search(r"\b_forward\b", document.code) or name is None or not node.args.args:
        return
    start, colon = document.bounds(node)[0], _colon(document, node)
    indent = document.indentation(node)
    head = document.code[start : colon + 1]
    receiver, *given = _arguments(node)
    call = f"return {receiver}._forward({', '.join(given)})"
    text = f"{indent}{head}\n{indent}{document.step}{call}\n\n"
    added = inserted(document, document.offset(first_line(node), 0), text)
    renamed = Edit(document.range(name.end(), name.end() + len("forward")), "_forward")
    yield Fix("Mark a method `_forward` that `forward` calls", Applicability.UNSAFE, (added, renamed))


def _colon(document: Document, node: ast.FunctionDef) -> int:
    """Where the colon stands that ends the head of a function."""
    end = document.bounds(node.returns)[1] if node.returns is not None else parameters_of(document, node).closing
    return document.code.index(":", end)


def _arguments(node: ast.FunctionDef) -> list[str]:
    """The parameters of a function as its arguments, the receiver first."""
    arguments = node.args
    given = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        given.append(f"*{arguments.vararg.arg}")
    given += [f"{one.arg}={one.arg}" for one in arguments.kwonlyargs]
    return given if arguments.kwarg is None else [*given, f"**{arguments.kwarg.arg}"]
