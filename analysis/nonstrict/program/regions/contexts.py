"""Context managers in regions: some that a `with` statement may enter, an `ExitStack` may not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.knowledge.graph_breaks import is_measured, is_restored, may_break
from nonstrict.program import naming
from nonstrict.program.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.definitions import Function
    from nonstrict.program.frames import Frame
    from nonstrict.program.machine import Machine

_STACK = "contextlib.ExitStack.enter_context"
#: What knowledge calls the managers that are told apart only by the function that made them.
_PLAIN = "context-manager"
#: What knowledge calls the results of calls, as the table calls context managers.
_MADE = {"lock": "threading.Lock", "event": "threading.Event", "file": "builtins.open"}


def stacked(frame: Frame, node: ast.AST, stack: Value, name: str, positional: Sequence[Value]) -> str:
    """The key of what breaks where a stack of context managers enters one; "" for any other call of a method."""
    of_stack = name == "enter_context" and stack.kind is Kind.INSTANCE and stack.ref == _PLAIN
    if not of_stack or len(positional) != 1:
        return ""
    keys = (f"arg:{_STACK}:{manager}" for manager in _names(frame, node, positional[0]))
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


def _names(frame: Frame, node: ast.AST, manager: Value) -> Iterator[str]:
    """By which names the table may know a context manager."""
    if manager.kind is not Kind.INSTANCE or not isinstance(manager.ref, str):
        return
    if manager.ref != _PLAIN:
        yield manager.ref
        yield _MADE.get(manager.ref, manager.ref)
        return
    made = node.args[0] if isinstance(node, ast.Call) and node.args else None
    callee = frame.machine.evaluate(frame, made.func) if isinstance(made, ast.Call) else None
    if callee is not None and callee.kind is Kind.EXTERNAL:
        yield callee.ref
