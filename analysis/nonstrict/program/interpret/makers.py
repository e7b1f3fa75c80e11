"""Which expression makes what another one gives: behind variables, and functions of the program that return it."""

from __future__ import annotations

import ast

from nonstrict.facts.reaching import source
from nonstrict.facts.walk import own_scope
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.effects import Summary
from nonstrict.program.objects import naming, parameters
from nonstrict.program.state.frames import Frame

#: How many functions are looked into, one called by another, at most.
_HOPS = 2


def made_by(frame: Frame, expression: ast.expr, hops: int = _HOPS) -> tuple[Frame, ast.expr]:
    """The expression that makes what one gives, with the frame that it is read in."""
    made = source(naming.text_of(frame), expression)
    function = frame.machine.evaluate(frame, made.func).function if isinstance(made, ast.Call) and hops else None
    if not isinstance(made, ast.Call) or not isinstance(function, Function) or _is_spread(made):
        return frame, made
    returned = [node.value for node in own_scope(function.node) if isinstance(node, ast.Return)]
    if len(returned) != 1 or returned[0] is None or isinstance(function.node, ast.AsyncFunctionDef):
        return frame, made
    positional = [frame.machine.evaluate(frame, one) for one in made.args]
    keywords = {one.arg: frame.machine.evaluate(frame, one.value) for one in made.keywords if one.arg is not None}
    inside = Frame(
        frame.machine, function.module, function.offset, Summary(function.qualname), function=function, static=True
    )
    inside.env.update(parameters.bind(inside, function, positional, keywords))
    return made_by(inside, returned[0], hops - 1)


def _is_spread(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
