"""Assertions on the data of tensors, in the form that the compiler keeps in the graph."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.tensors.kinds import Kinds
from nonstrict.fixes.uses.terms import enclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context


def assert_in_graph(context: Context) -> Iterator[Fix]:
    """`assert (t > 0).all(), "negative"` becomes `torch._assert_async((t > 0).all(), "negative")`.

    Measured on torch 2.13.0 with aot_eager and Inductor: it compiles, and RuntimeError is raised when the compiled code
    runs. Only with a message: without one it is removed as dead code.
    """
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    statement = document.statement(node) if document is not None and node is not None else None
    if document is None or node is None or not isinstance(statement, ast.Assert):
        return
    function = document.function(statement)
    negated = isinstance(statement.test, ast.UnaryOp) and isinstance(statement.test.op, ast.Not)
    test = statement.test.operand if isinstance(statement.test, ast.UnaryOp) and negated else statement.test
    if test is not node or function is None or not _is_text(statement.msg):
        return
    kinds = Kinds(context, document, function)
    if not kinds.is_scalar(test) or not kinds.is_tensor(test):
        return
    condition = document.text(test)
    if not kinds.is_boolean(test):
        condition = f"{enclosed(condition)} != 0"
    if negated:
        condition = f"{enclosed(condition)}.logical_not()"
    if "\n" in document.text(statement.test):
        return
    message = document.text(statement.msg) if statement.msg is not None else _quoted(document.text(statement.test))
    spelling = spelled(document, "torch._assert_async")
    edit = replaced(document, statement, f"{spelling.text}({condition}, {message})")
    yield Fix("Assert with `torch._assert_async`", Applicability.UNSAFE, (edit, *spelling.edits))


def _quoted(test: str) -> str:
    """A message for an assertion that has none: what is asserted."""
    return repr(test) if '"' in test else f'"{test}"'


def _is_text(message: ast.expr | None) -> bool:
    return message is None or (isinstance(message, ast.Constant) and isinstance(message.value, str))
