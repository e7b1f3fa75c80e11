"""Context managers in regions: some that a `with` statement may enter, an `ExitStack` may not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.knowledge.graph_breaks import is_measured, is_restored, may_break
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_STACK = "contextlib.ExitStack.enter_context"
_STACKS = ("contextlib.ExitStack", "contextlib.AsyncExitStack")


def stacked(frame: Frame, node: ast.AST, stack: Value, name: str, positional: Sequence[Value]) -> str:
    """The key of what breaks where a stack of context managers enters one; "" for any other call of a method."""
    of_stack = name == "enter_context" and stack.kind is Kind.INSTANCE and stack.dotted in _STACKS
    if not of_stack or len(positional) != 1:
        return ""
    keys = (f"arg:{_STACK}:{manager}" for manager in _names(frame, positional[0]))
    key = next((key for key in keys if is_measured(key, frame.machine.torch)), "")
    return key if may_break(key, frame.machine.torch) else ""


def may_be_restored(machine: Machine, function: Function, manager: ast.expr) -> bool:
    """Whether a function may resume in the block of a context manager after a break: not in those of the program."""
    made = manager.func if isinstance(manager, ast.Call) else manager
    if not naming.is_chain(made):
        return True
    name = naming.names_in(machine, function)(made)
    if name:
        return is_restored(f"with:{name}", machine.torch) or not is_measured(f"with:{name}", machine.torch)
    return machine.evaluate(machine.module_frame(function.module), made).kind not in (Kind.CLASS, Kind.FUNCTION)


def _names(frame: Frame, manager: Value) -> Iterator[str]:
    """By which names the table may know a context manager."""
    if manager.kind is not Kind.INSTANCE or not manager.dotted:
        return
    yield from frame.machine.models.ancestors(manager.dotted)
    if frame.machine.models.is_a(manager.dotted, "io.IOBase"):
        yield "builtins.open"
