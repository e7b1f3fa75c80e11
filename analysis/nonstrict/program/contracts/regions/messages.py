"""Messages of `torch._check` in regions: torch makes a function of its own of one, which may capture constants only."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Taken
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.walk import walk
from nonstrict.program.domain.values import TENSORS, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.state.frames import Frame


def construct(frame: Frame, given: Iterable[Value]) -> str:
    """What the table calls a check whose message captures what is not a constant; "" for any other."""
    for message in given:
        for value in _captured(frame, message) if message.kind is Kind.FUNCTION else ():
            kinds = {alternative.kind for alternative in value.alternatives()}
            if kinds <= TENSORS:
                return "check-message-tensor"
            if kinds == {Kind.MODULE}:
                return "check-message-module"
            if any(effect.how is Taken.ITEM for effect in value.taint):
                return "check-message-item"
    return ""


def _captured(frame: Frame, message: Value) -> Iterator[Value]:
    """What a function captures from the functions of the region around it, and the names that its defaults are."""
    function = message.function
    if function is None:
        return
    node = function.node
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if isinstance(default, ast.Name):
            yield frame.machine.evaluate(frame, default)
    for name in remembered(node, "_nonstrict_free", _free):
        around = function.closure
        while around is not None and not (around.scope is not None and name in around.scope.local):
            around = around.function.closure if around.function is not None else None
        if around is not None and not around.static:
            yield around.env.get(name, UNKNOWN)


def _free(node: FunctionNode) -> frozenset[str]:
    """The names that a function reads and does not bind."""
    body = node.body if isinstance(node.body, list) else [node.body]
    names = [inner for part in body for inner in walk(part) if isinstance(inner, ast.Name)]
    bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    return frozenset(name.id for name in names) - bound - set(parameter_names(node.args))
