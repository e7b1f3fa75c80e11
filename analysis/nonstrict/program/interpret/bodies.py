"""Running the body of a function, and what it returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import fallthrough
from nonstrict.facts.scopes import parameters_of
from nonstrict.program.domain.values import NONE, UNKNOWN, Kind, Value, container, join
from nonstrict.program.objects import dimensions

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine


def run(machine: Machine, frame: Frame) -> None:
    """Interpret the body of the frame's function."""
    function = frame.function
    if function is None:
        return
    node = function.node
    for parameter in parameters_of(node.args):
        if parameter.arg in frame.env:
            value = frame.env[parameter.arg] = dimensions.of_any_number(frame.env[parameter.arg])
            frame.hold(parameter, value)
    if isinstance(node, ast.Lambda):
        frame.returned(node, frame.consume(node.body, machine.evaluate(frame, node.body)))
        frame.done = True
    else:
        machine.execute(frame, node.body)
    frame.summary.returns = join(frame.summary.returns, _returned(frame))


def _returned(frame: Frame) -> Value:
    frame.summary.open_end = not frame.done
    if frame.yields is not None:
        produced = container(Kind.ITERATOR)
        return produced._replace(heap=frame.yields)
    if frame.returns is None:
        return UNKNOWN if frame.done or _is_placeholder(frame) else NONE
    if not frame.done:
        return join(frame.returns, NONE)
    return frame.returns


def _is_placeholder(frame: Frame) -> bool:
    """Whether a function has no body of its own: a member of a protocol, an abstract method, a stub."""
    return frame.function is not None and fallthrough.is_placeholder(frame.function.node)
