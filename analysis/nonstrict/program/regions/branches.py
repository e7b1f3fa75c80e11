"""Branches of `torch.cond` in regions: each becomes a graph of its own, from which nothing outside can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.effects import Event, Summary, observed
from nonstrict.program.frames import Frame
from nonstrict.program.values import CALLABLES, TENSORS, Flag, Kind, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

#: What changes where a branch writes, by how it does so.
_CONSTRUCTS = {"attribute": "cond-branch-attribute", "rebind": "cond-branch-global"}
_CHANGING = (Event.WRITE, Event.LEAK)


def construct(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value]) -> str:
    """What the table calls a call of `torch.cond` whose branches change something; "" for all other calls.

    A predicate that is a number is decided while tracing, and its branch is traced like any function.
    """
    if name != "torch.cond" or len(positional) != 4 or not _is_open(positional[0]):
        return ""
    operands = positional[3].heap
    given = list(operands.items.values()) if positional[3].kind in (Kind.TUPLE, Kind.LIST) and operands else []
    for branch in positional[1:3]:
        changed = _changed_by(frame, node, branch, given) if branch.kind in CALLABLES else None
        if changed is not None:
            return _CONSTRUCTS.get(changed, "cond-branch-append")
    return ""


def _is_open(predicate: Value) -> bool:
    return predicate.kind in TENSORS and not predicate.flags & Flag.LITERAL


def _changed_by(frame: Frame, node: ast.AST, branch: Value, given: Sequence[Value]) -> str | None:
    """How a branch changes what lives outside it; None if it is not known to."""
    summary = Summary("branch")
    inner = Frame(frame.machine, frame.module, frame.offset, summary, caller=frame)
    inner.scope, inner.env, inner.function = frame.scope, frame.env, frame.function
    frame.machine.call(inner, node, branch, given, {})
    for seen in observed(summary):
        sure = not seen.effect.conditional and not any(edge.conditional for edge in seen.chain)
        if seen.effect.event in _CHANGING and sure:
            return seen.effect.what
    return None
