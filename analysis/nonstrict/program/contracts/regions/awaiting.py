"""Whether results of a region may wait for their backward pass: of parameters, and of what is computed of some.

Source: `torch/_functorch/aot_autograd.py` of torch 2.13: a graph is one for training if an input needs gradients.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.library_calls import called
from nonstrict.program.contracts.regions import backward, requiring, torch_states
from nonstrict.program.contracts.regions.computed_of import Origin, origins
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.program.objects import naming
from nonstrict.program.objects.classes import is_module

if TYPE_CHECKING:
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

#: How many expressions a tensor is followed through, at most.
_STEPS = 12


def may_await_backward(region: Interpreted, frame: Frame, node: ast.AST) -> bool:
    """Whether results of a call may wait for one."""
    target, owner = region.mark.target, frame.function.owner if frame.function is not None else None
    held = target.bound.receiver if target.bound is not None else target
    if held.kind is Kind.MODULE or any(True for _ in region.observed(Event.LAYER)):
        return True
    if owner is not None and is_module(owner):
        return True
    passed = [*node.args, *(one.value for one in node.keywords)] if isinstance(node, ast.Call) else []
    given = [one.value if isinstance(one, ast.Starred) else one for one in passed]
    known = _Needing()
    return any(known.may(Origin(frame, one)) for one in given)


def may_need_gradients(frame: Frame, expression: ast.expr) -> bool:
    """Whether what an expression gives may need gradients."""
    return _Needing().may(Origin(frame, expression))


class _Needing:
    """Tells of tensors whether they may need gradients."""

    def __init__(self) -> None:
        self._seen: set[tuple[ast.AST, ast.expr]] = set()

    def may(self, one: Origin, steps: int = _STEPS) -> bool:
        """Whether what an expression gives may need gradients."""
        at = naming.text_of(one.frame), one.expression
        if at in self._seen or not steps:
            return False
        self._seen.add(at)
        form, value = requiring.form(one.frame, one.expression), one.value
        if form or value.kind is Kind.PARAMETER or value.flags & Flag.GRADIENT:
            return form != requiring.PLAIN
        told = _told(one, one.call) if one.call is not None else None
        found = origins(one, lambda call: _is_of_program(one.frame, call)) if told is None else ()
        return bool(told) or any(self.may(each, steps - 1) for each in found or ())


def _told(one: Origin, call: ast.Call) -> bool | None:
    """Whether what a call gives may need gradients; None where what it is given decides that."""
    known = called(naming.names_at(one.frame), call)
    if known.operator is not None:
        return False if known.operator.cuts_gradients else None
    callee = Origin(one.frame, call.func).value
    held = callee.bound.receiver if callee.bound is not None else callee
    if held.kind is Kind.MODULE:
        return not held.flags & Flag.FROZEN and not torch_states.are_gradients_off(one.frame, call)
    if known.library or _is_of_program(one.frame, call) or not _is_unknown(callee):
        return None
    # What trains calls its model, even where nothing tells that it is one.
    frame = one.frame
    return backward.may_begin(frame.machine, frame.module.path) and not torch_states.are_gradients_off(one.frame, call)


def _is_of_program(frame: Frame, call: ast.Call) -> bool:
    callee = Origin(frame, call.func).value
    return any(one.function is not None or one.bound is not None for one in callee.alternatives())


def _is_unknown(callee: Value) -> bool:
    return any(one.kind in (Kind.UNKNOWN, Kind.EXTERNAL_METHOD, Kind.INSTANCE) for one in callee.alternatives())
