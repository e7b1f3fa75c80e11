"""Modes of torch that a function switches on and leaves: as context managers, or as modes that the compiler knows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import removed, replaced
from nonstrict.fixes.code.names import dotted, spelled
from nonstrict.text.lexer import lexemes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_SWITCH = "torch.set_grad_enabled"


def enter_grad_mode(context: Context) -> Iterator[Fix]:
    """`torch.set_grad_enabled(False)` becomes `with torch.no_grad():` around what follows it in the function."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    statement = document.parent(call) if document is not None and call is not None else None
    if document is None or call is None or not isinstance(statement, ast.Expr) or len(call.args) != 1 or call.keywords:
        return
    function = document.function(statement)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or statement not in function.body:
        return
    index = function.body.index(statement)
    if any(_switches(document, one) for one in function.body[:index]):
        return  # it ends what an earlier one began
    later = function.body[index + 1 :]
    ends = next((one for one in later if _switches(document, one)), None)
    inside = later if ends is None else later[: later.index(ends)]
    if not inside or _binds_outer(inside):
        return
    manager, edits = _manager(document, call.args[0])
    shifted = [_shifted(document, one) for one in inside]
    last = removed(document, ends) if ends is not None else None
    if any(edit is None for edit in shifted) or (ends is not None and last is None):
        return
    changes = [edit for edit in (*shifted, last) if edit is not None]
    title = f"Use `with {manager}:`"
    # A mode that was never taken back held for the code behind the call, too.
    sure = Applicability.UNSAFE if ends is not None else Applicability.DISPLAY
    yield Fix(title, sure, (replaced(document, statement, f"with {manager}:"), *changes, *edits))


def leave_inference_mode(context: Context) -> Iterator[Fix]:
    """`torch.inference_mode()` becomes `torch.no_grad()`, which the compiler repeats."""
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    called = node.func if isinstance(node, ast.Call) else node
    if document is None or node is None or called is None:
        return
    if not dotted(document, called).endswith("inference_mode"):
        return
    given = (*node.args, *(keyword.value for keyword in node.keywords)) if isinstance(node, ast.Call) else ()
    if any(not (isinstance(value, ast.Constant) and value.value is True) for value in given):
        return
    spelling = spelled(document, "torch.no_grad")
    edit = replaced(document, node, f"{spelling.text}()")
    yield Fix("Use `torch.no_grad()`", Applicability.UNSAFE, (edit, *spelling.edits))


def _manager(document: Document, mode: ast.expr) -> tuple[str, tuple[Edit, ...]]:
    if not isinstance(mode, ast.Constant) or not isinstance(mode.value, bool):
        spelling = spelled(document, _SWITCH)
        return f"{spelling.text}({document.text(mode)})", spelling.edits
    spelling = spelled(document, "torch.enable_grad" if mode.value else "torch.no_grad")
    return f"{spelling.text}()", spelling.edits


def _switches(document: Document, statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and dotted(document, statement.value.func) == _SWITCH
    )


def _binds_outer(statements: list[ast.stmt]) -> bool:
    """Whether there is a declaration that has to stay at the level of the function, for people who read it."""
    return any(isinstance(statement, (ast.Global, ast.Nonlocal)) for statement in statements)


def _shifted(document: Document, statement: ast.stmt) -> Edit | None:
    """A statement one level deeper, with the comments above it; None if it shares its line or holds a long string."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
    last = statement.end_lineno or statement.lineno
    while first > 1 and document.lines[first - 2].lstrip().startswith("#"):
        first -= 1
    start, end = document.offset(first, 0), document.bounds(statement)[1]
    code = document.code[start:end]
    if any(token.kind == "string" and "\n" in code[token.start : token.end] for token in lexemes(code)):
        return None
    if document.code[document.offset(statement.lineno, 0) : document.bounds(statement)[0]].strip():
        return None
    lines = document.lines[first - 1 : last]
    lines[-1] = code.split("\n")[-1]
    text = "\n".join(f"{document.step}{line}" if line.strip() else line for line in lines)
    return Edit(document.range(start, end), text)
