"""Custom functions of autograd: what `Function.apply` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program import classes, externals
from nonstrict.program.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame


def applied(frame: Frame, node: ast.AST, receiver: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`Function.apply`: `forward` now, `backward` while the graph is captured."""
    result = Value(Kind.TENSOR)
    # Where another method sets the context up, `forward` is not given it.
    context = [] if classes.member(frame.machine, receiver.ref, "setup_context") is not None else [UNKNOWN]
    for name, arguments in (("forward", [*context, *positional]), ("backward", [UNKNOWN, Value(Kind.TENSOR)])):
        found = classes.member(frame.machine, receiver.ref, name)
        if found is None or found[0].kind is not Kind.FUNCTION:
            continue
        if name == "forward":
            result = frame.machine.call(frame, node, found[0], arguments, keywords)
        else:
            externals.run_deferred(frame, node, found[0], "backward", arguments)
    return result if result.kind is not Kind.UNKNOWN else Value(Kind.TENSOR)
