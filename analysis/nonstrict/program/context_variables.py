"""Context variables that a body sets itself before it reads them: what it reads is not the state of its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts import context_variables as facts
from nonstrict.program.values import Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame

_NONE: frozenset[str] = frozenset()


def entered(frame: Frame, node: ast.AST, manager: Value) -> None:
    """A `with` statement enters a manager, which may set variables for its block."""
    names = _NONE
    if manager.kind is Kind.OBJECT and manager.of_class is not None:
        names = facts.around_block(manager.of_class.node)
    else:
        for edge in frame.summary.calls.values():
            if edge.node is node and edge.summary.definition is not None:
                names |= facts.around_yield(edge.summary.definition.node)
    if names and frame.function is not None:
        frame.entered.append((facts.body_of(frame.function.node, node), names))


def held(frame: Frame, node: ast.AST) -> frozenset[str]:
    """The variables that the function of a frame has set where a node stands."""
    if frame.function is None or frame.static:
        return _NONE
    line: int = getattr(node, "lineno", 0)
    names = _NONE
    for (first, last), inside in frame.entered:
        if first <= line <= last:
            names |= inside
    if frame.module.holds(".reset("):
        names |= {one.name for one in facts.settings(frame.function.node) if one.first <= line <= one.last}
    return names
