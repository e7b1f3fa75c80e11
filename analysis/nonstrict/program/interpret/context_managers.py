"""What `with` statements bind, and what entering and leaving a context manager does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts import context_variables as facts
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.references import Bound
from nonstrict.program.domain.values import TENSORS, UNKNOWN, Kind, Value
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    import ast

    from nonstrict.program.state.frames import Frame

_MODES = ("torch.inference_mode", "torch.autograd.grad_mode.inference_mode")


def enter(frame: Frame, node: ast.AST, manager: Value) -> Value:
    """What `with manager as name` binds."""
    frame.observer.entered(frame, node, manager)
    if not frame.static and (manager.dotted == "contextlib" or manager.of_class is not None):
        _set_variables(frame, node, manager)
    if manager.kind is Kind.INSTANCE and manager.dotted:
        if manager.dotted in _MODES:
            frame.emit(Event.TORCH_STATE, node, what="`torch.inference_mode()`")
        if manager.dotted == "contextlib" and manager.heap is not None:
            return manager.heap.element or UNKNOWN
        return manager
    if manager.kind is Kind.OBJECT and manager.of_class is not None:
        return _enter_object(frame, node, manager)
    return UNKNOWN if manager.kind in TENSORS else manager


def _set_variables(frame: Frame, node: ast.AST, manager: Value) -> None:
    """A manager may set context variables for the block of its `with` statement."""
    names = frozenset[str]()
    if manager.kind is Kind.OBJECT and manager.of_class is not None:
        names = facts.around_block(manager.of_class.node)
    else:
        for edge in frame.summary.calls.values():
            if edge.node is node and edge.summary.definition is not None:
                names |= facts.around_yield(edge.summary.definition.node)
    if names and frame.function is not None:
        frame.entered.append((facts.body_of(frame.function.node, node), names))


def _enter_object(frame: Frame, node: ast.AST, manager: Value) -> Value:
    cls = manager.of_class
    if cls is None:
        return manager
    for name in ("__torch_dispatch__", "__torch_function__"):
        found = classes.member(frame.machine, cls, name)
        if found is not None and found[0].function is not None:
            bound = Value(Kind.BOUND, FRESH, Bound(manager, found[0].function))
            frame.machine.call(frame, node, bound, [UNKNOWN, UNKNOWN], {})
    entered = manager
    for name in ("__enter__", "__exit__"):
        found = classes.member(frame.machine, cls, name)
        if found is not None and found[0].function is not None:
            bound = Value(Kind.BOUND, manager.place, Bound(manager, found[0].function))
            result = frame.machine.call(frame, node, bound, [UNKNOWN] * 3 if name == "__exit__" else [], {})
            entered = result if name == "__enter__" else entered
    return entered
