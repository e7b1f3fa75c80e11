"""Generic functions: which implementation `functools.singledispatch` runs for the first argument of a call."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import torch_kind
from nonstrict.program.domain.values import NO_CONSTANT, Kind, Value
from nonstrict.program.objects import classes, definition_values
from nonstrict.program.objects.parameters import definition_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame

_OBJECT = "builtins.object"
_TENSOR = "torch.Tensor"
_ABSTRACT = frozenset({"abc.ABC", "typing.Protocol"})
_NONE = "builtins.NoneType"
#: The built-in classes of values whose kind tells them.
_BUILTIN = {Kind.STRING: "str", Kind.LIST: "list", Kind.DICT: "dict", Kind.SET: "set", Kind.TUPLE: "tuple"}
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Registered(NamedTuple):
    """An implementation, and the class it is for: of the program, a dotted name, or None where that is not known."""

    cls: Class | str | None
    function: Function


@dataclass(eq=False)
class _Generics:
    """What is registered with generic functions, once it was asked for."""

    registered: dict[Function, list[Registered]] = field(default_factory=dict)


def implementation(frame: Frame, function: Function, positional: Sequence[Value]) -> Function | None:
    """What a generic function runs for some arguments, itself included; None where that is not known."""
    index = 0 if function.owner is None else 1
    lineage = _lineage(positional[index]) if index < len(positional) else ()
    if not lineage:
        return None
    registered = registered_with(frame, function)
    for cls in lineage:
        for one in reversed(registered):
            if one.cls is cls or (isinstance(cls, str) and one.cls == cls):
                return one.function
        if cls == lineage[0] and any(not _is_plain(one.cls) for one in registered):
            return None  # an abstract class, which may claim any other
    return function


def registered_with(frame: Frame, function: Function) -> list[Registered]:
    """The implementations that the project registers with a generic function, in the order of the text."""
    known = frame.machine.part(_Generics).registered
    if function not in known:
        known[function] = []
        known[function] = [*_registered(frame, function)]
    return known[function]


def _registered(frame: Frame, function: Function) -> Iterator[Registered]:
    if function.owner is not None:
        nodes = [node for node in function.owner.node.body if isinstance(node, _Function)]
        closure = definition_frame(frame, function)
        for node in nodes:
            yield from _decorated(closure, node, function.offset, function.name, function.owner)
    elif function.closure is None:
        yield from _in_module(frame, function.module, function.name)
        for use in frame.machine.elsewhere.users(function.module, function.name, may_use=_may_register):
            yield from _in_module(frame, use.module, use.name)


def _may_register(code: str) -> bool:
    return ".register" in code


def _in_module(frame: Frame, module: Module, name: str) -> Iterator[Registered]:
    """The implementations that the top-level definitions and statements of a module register by a name."""
    around = frame.machine.module_frame(module)
    for chunk in module.chunks_with({name}):
        node = module.outline.node(chunk) if ".register" in chunk.text else None
        if isinstance(node, _Function):
            yield from _decorated(around, node, chunk.offset, name, None)
    for statement in module.outline.shell.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and _registers(call.func, name) and len(call.args) > 1:
            for alternative in frame.machine.evaluate(around, call.args[1]).alternatives():
                if alternative.function is not None:
                    yield from (Registered(cls, alternative.function) for cls in _classes(around, call.args[0]))


def _decorated(
    around: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef, offset: int, name: str, owner: Class | None
) -> Iterator[Registered]:
    """What a definition registers by its decorators: `@cost.register`, `@cost.register(int)`."""
    for decorator in node.decorator_list:
        called = isinstance(decorator, ast.Call)
        if not _registers(decorator.func if isinstance(decorator, ast.Call) else decorator, name):
            continue
        given = decorator.args[0] if isinstance(decorator, ast.Call) and decorator.args else None
        declared = given if called else _annotation(node, 0 if owner is None else 1)
        function = definition_values.function_of(around, node, offset, owner)
        yield from (Registered(cls, function) for cls in (_classes(around, declared) if declared else (None,)))


def _registers(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "register" and last_name(node.value) == name


def _annotation(node: FunctionNode, index: int) -> ast.expr | None:
    parameters = [*node.args.posonlyargs, *node.args.args]
    return parameters[index].annotation if index < len(parameters) else None


def _classes(frame: Frame, node: ast.expr) -> Iterator[Class | str | None]:
    """The classes that an expression or annotation names: `Tensor`, `int | float`, `Union[int, float]`."""
    if isinstance(node, ast.BinOp):
        yield from chain(_classes(frame, node.left), _classes(frame, node.right))
    elif isinstance(node, ast.Subscript) and last_name(node) == "Union" and isinstance(node.slice, ast.Tuple):
        yield from chain.from_iterable(_classes(frame, part) for part in node.slice.elts)
    else:
        found = frame.machine.evaluate(frame, node)
        if found.kind is Kind.NONE:
            yield _NONE
        else:
            known = found.of_class or found.dotted
            yield _spelled(known) if known and found.kind in (Kind.CLASS, Kind.EXTERNAL) else None


def _spelled(cls: Class | str) -> Class | str:
    return _TENSOR if isinstance(cls, str) and torch_kind(cls) == "tensor-class" else cls


def _is_plain(cls: Class | str | None) -> bool:
    """Whether a class has no instances but those of the classes that derive from it."""
    if cls is None or isinstance(cls, str):
        return cls is not None and cls.startswith(("builtins.", "torch.", "numpy."))
    return _ABSTRACT.isdisjoint(classes.external_bases(cls))


def _lineage(value: Value) -> tuple[Class | str, ...]:
    """The classes of a value, nearest first; empty where they are not known."""
    if value.is_tensor and value.ref is None:
        return (_TENSOR, _OBJECT)
    if value.kind in (Kind.OBJECT, Kind.MODULE) and value.of_class is not None:
        return (*map(_spelled, classes.lineage(value.of_class)), _OBJECT)
    if value.kind is Kind.NONE:
        return (_NONE, _OBJECT)
    if value.kind is Kind.BOOL:
        return ("builtins.bool", "builtins.int", _OBJECT)
    if value.kind is Kind.NUMBER and value.const is not NO_CONSTANT:
        return (f"builtins.{type(value.const).__name__}", _OBJECT)
    known = _BUILTIN.get(value.kind) if value.ref is None else None
    return (f"builtins.{known}", _OBJECT) if known is not None else ()
