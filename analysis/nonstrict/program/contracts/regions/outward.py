"""An expression of a function in the words of those who call it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import arguments
from nonstrict.program.discovery import callers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.state.frames import Frame

#: How many functions hand on what they are given, at most.
HOPS = 2


class Asked(NamedTuple):
    """An expression that is another one in each call of the function around it: where it is passed, by which call."""

    frame: Frame
    call: ast.AST
    expression: ast.expr


def asked_of_callers(asked: Asked) -> Iterator[Asked]:
    """The same in the words of each call of the function around it, where its parameters tell it."""
    function = asked.frame.function
    if function is None or not arguments.needs_parameters(function.node, asked.expression):
        return
    for frame, call, positional, _ in callers.calls_of_function(asked.frame.machine, function):
        if isinstance(call, ast.Call):
            passed = arguments.passed(function.node, call, len(positional) - len(call.args))
            told = arguments.in_words_of(function.node, asked.expression, passed)
            if told is not None:
                yield Asked(frame, call, told)
