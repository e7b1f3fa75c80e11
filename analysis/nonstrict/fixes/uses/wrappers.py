"""What decorators and calls make of a function that they are given: whether its callers pass the same arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.knowledge.markers import MARKERS
from nonstrict.models.members import STORING
from nonstrict.program.domain.definitions import Function, Mark
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.program.domain.values import Value

#: Markers whose functions take what they took before, and that nothing else has to agree with.
_PLAIN_MARKERS = frozenset({"nonstrict", "in-graph", "constant-result", "compiled", "disable"})
#: Decorators, and factories of such, that hand all arguments on.
_TRANSPARENT = frozenset(
    {
        *("builtins.staticmethod", "builtins.classmethod", "functools.cache", "functools.lru_cache"),
        *("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autograd.no_grad"),
        *("contextlib.contextmanager", "typing.no_type_check", "typing.override", "typing.final"),
        *("typing_extensions.override", "typing_extensions.final", "abc.abstractmethod"),
    }
)
#: Methods by which code keeps what it is given.
_KEEPING = STORING | {"register"}


def keeps_signature(uses: Uses, document: Document, decorator: ast.expr, *, stays: bool) -> bool:
    """Whether callers of a decorated function pass what the function takes.

    `stays` says whether what all its decorators make is the function still, or a marked one.
    """
    return all(
        _is_plain(name) if name else stays and not _keeps_elsewhere(one)
        for one, name in _callees(uses, document, decorator)
    )


def keeps_parameters(uses: Uses, document: Document, call: ast.Call, given: ast.expr, span: Span) -> bool:
    """Whether a call that is given a function returns it, or what takes the same arguments: `nonstrict_trace(f)`.

    `span` is that of the function, `given` the argument.
    """
    return all(
        _takes(name, call, given) if name else _returns_it(uses, document, call, one, span)
        for one, name in _callees(uses, document, call.func)
    )


def _is_plain(name: str) -> bool:
    marker = MARKERS.get(name)
    return name in _TRANSPARENT if marker is None else marker.kind in _PLAIN_MARKERS


def _takes(name: str, call: ast.Call, given: ast.expr) -> bool:
    """Whether a function is what a marker or a decorator from outside the program is called with."""
    marker = MARKERS.get(name)
    keyword = marker.argument if marker is not None else ""
    named = any(one.value is given and one.arg == keyword for one in call.keywords)
    return _is_plain(name) and (named or given in call.args[:1])


def _returns_it(uses: Uses, document: Document, call: ast.Call, callee: Value, span: Span) -> bool:
    """Whether a function of the program returns the function that it is given, marked or not, and keeps it nowhere."""
    return not _keeps_elsewhere(callee) and is_function(uses.value(document, call), span)


def is_function(value: Value, span: Span) -> bool:
    """Whether a value is a function, or what a marker made of it, and nothing else."""
    return all(_is_function(alternative, span) for alternative in value.alternatives())


def _is_function(value: Value, span: Span) -> bool:
    function: object = value.ref.function if value.kind is Kind.MARKED and isinstance(value.ref, Mark) else value.ref
    if value.kind not in (Kind.FUNCTION, Kind.MARKED) or not isinstance(function, Function):
        return False
    return span_of(function.module.path, function.offset, function.node) == span


def _callees(uses: Uses, document: Document, node: ast.expr) -> list[tuple[Value, str]]:
    """What a decorator or callee may be, and its dotted name if it is not of the program.

    What makes it counts: `torch.compile` of `torch.compile(fullgraph=True)`. Nothing is called that is None.
    """
    value = uses.value(document, node)
    if isinstance(node, ast.Call) and not _is_known(value):
        value = uses.value(document, node.func)
    if not _is_known(value):
        return [(value, uses.scopes(document).dotted(node.func if isinstance(node, ast.Call) else node))]
    found: list[tuple[Value, str]] = []
    for alternative in value.alternatives():
        made_by = alternative
        while made_by.partial is not None:
            made_by = made_by.partial.function
        if made_by.kind is not Kind.NONE:
            found.append((made_by, made_by.dotted if made_by.kind is Kind.EXTERNAL else ""))
    return found


def _is_known(value: Value) -> bool:
    kinds = (Kind.EXTERNAL, Kind.PARTIAL, Kind.FUNCTION, Kind.NONE)
    return all(alternative.kind in kinds for alternative in value.alternatives())


def _keeps_elsewhere(callee: Value) -> bool:
    """Whether a function may keep what it is given where others find it; nothing is known of what is not a function."""
    if callee.kind is not Kind.FUNCTION or not isinstance(callee.ref, Function):
        return True
    nodes = list(ast.walk(callee.ref.node))
    stores = any(isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) for node in nodes)
    return stores or any(isinstance(node, ast.Call) and last_name(node.func) in _KEEPING for node in nodes)
