"""Values from annotations: `torch.Tensor`, `nn.Module`, `list[torch.Tensor]`, `Optional[...]`, project classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import NONE, UNKNOWN, AbstractObject, Flag, Kind, Value, join
from nonstrict.program.objects import typed
from nonstrict.program.objects.naming import is_chain
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.state.frames import Frame

_UNIONS = frozenset({"typing.Union", "typing.Optional"})
_TRANSPARENT = frozenset(
    {"typing.Final", "typing.ClassVar", "typing.Annotated", "typing_extensions.Annotated", "typing.Required"}
)


def promised_value(frame: Frame, node: ast.AST | None, place: AccessPath) -> Value:
    """The value an annotation promises, at `place`; UNKNOWN where it promises nothing that matters."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return promised_value(frame, _parsed(node.value), place)
        return NONE if node.value is None else UNKNOWN.at(place)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either(frame, [node.left, node.right], place)
    if isinstance(node, ast.Subscript):
        return _subscripted(frame, node, place)
    if is_chain(node):
        return instance_of(frame, frame.machine.evaluate(frame, node), place)
    return UNKNOWN.at(place)


def canonical(frame: Frame, node: ast.AST | None) -> str:
    """The dotted name of an annotation without its arguments, "" if it has none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = _parsed(node.value)
    if isinstance(node, ast.Subscript):
        node = node.value
    if not is_chain(node):
        return ""
    found = frame.machine.evaluate(frame, node)
    if found.kind is Kind.EXTERNAL:
        return found.dotted
    return found.of_class.qualname if found.kind is Kind.CLASS and found.of_class is not None else ""


def _parsed(text: str) -> ast.expr | None:
    try:
        return tree_of(text.strip(), "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _either(frame: Frame, nodes: list[ast.expr], place: AccessPath, *, optional: bool = False) -> Value:
    found: Value | None = None
    parts = [promised_value(frame, node, place) for node in nodes]
    for part in parts:
        if part.kind is not Kind.NONE:
            found = join(found, part)
    if found is None:
        return NONE.at(place)
    optional = optional or any(part.kind is Kind.NONE for part in parts)
    return found._replace(flags=found.flags | Flag.OPTIONAL) if optional else found


def _subscripted(frame: Frame, node: ast.Subscript, place: AccessPath) -> Value:
    base = frame.machine.evaluate(frame, node.value)
    name = frame.machine.models.canonical(base.dotted) if base.kind is Kind.EXTERNAL else ""
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in _UNIONS:
        return _either(frame, arguments, place, optional=name == "typing.Optional")
    if name in _TRANSPARENT:
        return promised_value(frame, arguments[0], place)
    kind = typed.container_kind(frame.machine.models, name)
    if kind is None:
        return instance_of(frame, base, place)
    heap = AbstractObject()
    held = [one for one in arguments if not (isinstance(one, ast.Constant) and one.value is ...)]
    if kind is Kind.TUPLE and len(held) == len(arguments):
        for index, argument in enumerate(held):
            heap.store(index, promised_value(frame, argument, place.step(f"[{index}]")))
        return Value(kind, place, heap=heap)
    for argument in held[-1:] if kind is Kind.DICT else held:
        heap.element = join(heap.element, promised_value(frame, argument, place.step("[]")))
    return Value(kind, place, heap=heap)


def instance_of(frame: Frame, base: Value, place: AccessPath) -> Value:
    """An instance of what an annotation, or a question for types, names."""
    if base.kind is Kind.CLASS and base.of_class is not None:
        return frame.machine.instance_at(base.of_class, place)
    if base.kind is Kind.UNION:
        return UNKNOWN.at(place)
    if base.kind is not Kind.EXTERNAL:
        return NONE.at(place) if base.kind is Kind.NONE else UNKNOWN.at(place)
    models = frame.machine.models
    return typed.instance(models, models.canonical(base.dotted), place)
