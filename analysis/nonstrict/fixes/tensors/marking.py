"""A pure helper of a compiled region is marked, so that the compiler need not understand what it does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.usage import used_as
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.documents import first_line
from nonstrict.fixes.code.edits import inserted, replaced
from nonstrict.fixes.code.names import dotted, spelled
from nonstrict.knowledge.markers import spellings
from nonstrict.program.discovery import callers
from nonstrict.program.domain.values import TENSORS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.definitions import Function

_CROSSING = TENSORS | {Kind.NUMBER, Kind.BOOL, Kind.STRING, Kind.SETTING, Kind.SIZE}
_TYPES = frozenset(
    {"torch.Tensor", "torch._tensor.Tensor", "builtins.int", "builtins.float", "builtins.bool", "builtins.str"}
)
_DISABLING = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})


def disabled(context: Context) -> Function | None:
    """The function that a region calls although `disable` stands on it."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    if document is None or call is None:
        return None
    value = context.documents.uses.value(document, call.func)
    return value.mark.function if value.mark is not None else value.function


def _can_cross(context: Context, node: ast.FunctionDef, helper: MarkedBody) -> bool:
    """Whether every argument is known to be one that a marked function may take."""
    arguments, function = node.args, helper.mark.function
    if function is None or arguments.vararg is not None or arguments.kwarg is not None:
        return False
    passed = callers.passed_to(context.machine, function)
    annotated = {parameter.name: parameter.annotation for parameter in helper.parameters}
    used = used_as(node)
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        value = passed.get(one.arg)
        if value is not None and value.kind is not Kind.UNKNOWN:
            if value.kind not in _CROSSING:
                return False
        elif annotated.get(one.arg) not in _TYPES and used.get(one.arg) != "tensor":
            return False
    return True


def mark(context: Context, helper: MarkedBody) -> Iterator[Fix]:
    """Put `nonstrict_trace` on a function, in place of `disable` if that stands there; no other decorator may."""
    function = helper.mark.function
    known = context.definition(function) if function is not None else None
    if known is None or not isinstance(known[1], ast.FunctionDef):
        return
    document, node = known[0], known[1]
    if not isinstance(document.parent(node), ast.Module) or not _can_cross(context, node, helper):
        return
    names = spellings("nonstrict", context.body.torch)
    if not names:
        return
    public = (name for name in names if name.startswith("torch.compiler."))
    spelling = spelled(document, next(public, names[0]))
    title = f"Mark `{node.name}` with `nonstrict_trace`"
    # Where the graph may break, the break may be meant.
    sure = Applicability.SAFE if context.body.fullgraph else Applicability.UNSAFE
    if not node.decorator_list:
        line = document.offset(first_line(node), 0)
        edit = inserted(document, line, f"{document.indentation(node)}@{spelling.text}\n")
        yield Fix(title, sure, (edit, *spelling.edits))
        return
    decorator = node.decorator_list[0]
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    given = isinstance(decorator, ast.Call) and (decorator.args or decorator.keywords)
    if len(node.decorator_list) == 1 and not given and dotted(document, called) in _DISABLING:
        edit = replaced(document, decorator, spelling.text)
        yield Fix(title, sure, (edit, *spelling.edits))
