"""Context managers that decorate functions: what entering and leaving them does is done at each call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects import classes
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Class

_DECORATOR = "contextlib.ContextDecorator"


def enter(frame: Frame) -> None:
    """The decorators around the function of a frame do what they do before and after it."""
    function = frame.function
    if function is None or frame.static:
        return
    for decorator in function.modes:
        frame.emit(Event.TORCH_STATE, decorator, what="torch.inference_mode")
    if not function.managers:
        return
    # Names in a decorator are those around the function.
    outside = Frame(frame.machine, function.module, function.offset, frame.summary, caller=frame)
    around = function.closure
    if around is not None:
        outside.scope, outside.env, outside.function = around.scope, around.env, around.function
    for decorator, known in function.managers:
        if not _is_manager(known):
            continue
        # What a generator function makes serves once: it is called anew each time.
        manager = frame.machine.evaluate(outside, decorator) if known.kind is Kind.INSTANCE else known
        frame.machine.enter(outside, decorator, manager)


def _is_manager(decorator: Value) -> bool:
    """Whether a decorator is a context manager of the program that enters itself around the function."""
    if decorator.kind is Kind.INSTANCE:
        return decorator.dotted == "contextlib"
    if decorator.of_class is None or _DECORATOR not in classes.external_bases(decorator.of_class):
        return False
    return not any("__call__" in _methods(base) for base in classes.lineage(decorator.of_class))


def _methods(base: Class | str) -> set[str]:
    statements = [] if isinstance(base, str) else base.node.body
    return {one.name for one in statements if isinstance(one, ast.FunctionDef)}
