"""Custom functions of autograd: what `Function.apply` runs, and what the gradient of an operator is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.references import Bound
from nonstrict.program.domain.values import CONTEXT, Kind, Value
from nonstrict.program.externals import external_calls
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    import ast

    from nonstrict.program.state.frames import Frame


_METHODS = frozenset({Kind.FUNCTION, Kind.BOUND})


def applied(frame: Frame, node: ast.AST, receiver: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`Function.apply`: `forward` now, `backward` while the graph is captured."""
    result = Value(Kind.TENSOR)
    cls = receiver.of_class
    if cls is None:
        return result
    # Where another method sets the context up, `forward` is not given it.
    context = [] if classes.member(frame.machine, cls, "setup_context") is not None else [CONTEXT]
    for name, arguments in (("forward", [*context, *positional]), ("backward", [CONTEXT, Value(Kind.TENSOR)])):
        found = classes.member(frame.machine, cls, name)
        if found is None or found[0].kind not in _METHODS:
            continue
        method = _of_class(receiver, found[0])
        if name == "forward":
            result = frame.machine.call(frame, node, method, arguments, keywords)
        else:
            external_calls.run_deferred(frame, node, method, "backward", arguments)
    return result if result.kind is not Kind.UNKNOWN else Value(Kind.TENSOR)


def _of_class(receiver: Value, method: Value) -> Value:
    """A method as `Function.apply` calls it: a class method is given the class."""
    if method.function is not None and method.function.binding == "class":
        return Value(Kind.BOUND, FRESH, Bound(receiver, method.function))
    return method
