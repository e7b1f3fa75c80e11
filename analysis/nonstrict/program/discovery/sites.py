"""How a marked function is called, and what it takes, as rules ask for it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import SeenCall
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame


class CallSite(NamedTuple):
    """A call of a marked function.

    `arguments` maps parameter names to values; `passes_mode` says that the caller reads a `training` flag itself.
    Where the caller passes on what it got itself, `arguments` are what its callers pass; `written` are the arguments as
    the caller has them, `surplus` those that `*args` takes. `call` is the call as it was seen.
    """

    span: Span
    compiled: bool
    arguments: Mapping[str, Value]
    argument_spans: Mapping[str, Span]
    passes_mode: bool = False
    written: Mapping[str, Value] | None = None
    surplus: tuple[tuple[Span, Value], ...] = ()
    call: SeenCall | None = None


class Parameter(NamedTuple):
    """A parameter of a marked function; `annotation` is the canonical dotted name, or ""."""

    name: str
    annotation: str
    has_default: bool
    span: Span


class Passing(NamedTuple):
    """A seen call that passes something for a parameter, and the expression that stands for it, if one does."""

    frame: Frame
    node: ast.AST
    value: Value
    expression: ast.expr | None


def passed_expression(
    node: ast.AST, positional: Sequence[Value], index: int, name: str, bound: int | None = None
) -> ast.expr | None:
    """What stands in a call for the parameter of that name, which takes the positional value number `index`.

    The first value may be the receiver, which no argument stands for: `bound` says whether it is, where that is known.
    Then what stands in front of `*args` is known too.
    """
    if not isinstance(node, ast.Call):
        return None
    unpacked = next((at for at, one in enumerate(node.args) if isinstance(one, ast.Starred)), None)
    if unpacked is not None:
        at = index - bound if bound is not None else unpacked
        if 0 <= at < unpacked:
            return node.args[at]
        return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
    index -= len(positional) - len(node.args)
    if 0 <= index < len(node.args):
        return node.args[index]
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
