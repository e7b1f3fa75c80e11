"""Assertions in a region: which of them Dynamo makes operators of the graph, and which are branches like any other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions import folding, guarded
from nonstrict.program.interpret import conditions, expressions

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame


def asserted(frame: Frame, statement: ast.Assert) -> None:
    """An assertion becomes a part of the graph where a tensor alone is asked last and the message is a literal.

    Measured on 2.13: `assert not t.any()`, the first half of `assert t.all() and ...`, and an assertion whose message
    is computed (an f-string with values in it, a name) break the graph, as `if` does.
    """
    around = frame.branches
    test = statement.test
    if isinstance(test, ast.BoolOp):
        for part in test.values[:-1]:
            verdict = folding.truth(frame, part)
            if verdict is None:
                conditions.decide(frame, part, checks=True, refuses=True)
                frame.branches += 1  # what follows is asked only if this does not decide
            elif verdict is isinstance(test.op, ast.Or):
                frame.branches = around
                return
        test = test.values[-1]
    if statement.msg is None or _is_literal(statement.msg):
        guarded.compared(frame, test, expressions.use(frame, test), asserts=True)
    else:
        conditions.decide(frame, test, checks=True, refuses=True)
    frame.branches = around


def _is_literal(message: ast.expr) -> bool:
    """Whether Python makes one string of a message while compiling it."""
    if isinstance(message, ast.BinOp):
        return isinstance(message.op, ast.Add) and _is_literal(message.left) and _is_literal(message.right)
    if isinstance(message, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) for part in message.values)
    return isinstance(message, ast.Constant) and isinstance(message.value, str)
