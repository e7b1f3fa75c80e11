"""Values of `def`, `class` and `lambda`: the definition with its decorators applied."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.pytrees import REGISTRARS
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Class, Function
from nonstrict.program.domain.values import UNKNOWN, Kind, Value
from nonstrict.program.linking import fixtures
from nonstrict.program.objects import strict_switch

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.state.frames import Frame

_CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property"})
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property", "torch.jit.unused_property"})
_CONTEXT_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
#: Kinds of decorators that are defined in the program, or made from what is.
_OF_PROGRAM = frozenset({Kind.FUNCTION, Kind.PARTIAL, Kind.BOUND, Kind.CLASS, Kind.OBJECT})
#: Decorators that change what calling a function does, and what the function is known to be then.
_TRAITS = {
    **dict.fromkeys(("triton.jit", "triton.runtime.jit.jit", "triton.autotune", "triton.heuristics"), "triton"),
    **dict.fromkeys(("functools.singledispatch", "functools.singledispatchmethod"), "generic"),
    **dict.fromkeys(fixtures.DECORATORS, fixtures.TRAIT),
}


def define(frame: Frame, node: ast.AST, offset: int, owner: Class | None = None) -> Value:
    """The value bound by a function or class definition."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        function = function_of(frame, node, offset, owner)
        value = decorated(frame, node.decorator_list, offset, Value(Kind.FUNCTION, FRESH, function))
        return (
            frame.machine.contracts.suppose(frame, node, offset, value, owner)
            if node in frame.machine.supposed
            else value
        )
    if isinstance(node, ast.ClassDef):
        cls = class_of(frame, node, offset, owner)
        return decorated(frame, node.decorator_list, offset, Value(Kind.CLASS, FRESH, cls))
    return UNKNOWN


def function_of(frame: Frame, node: FunctionNode, offset: int, owner: Class | None = None) -> Function:
    """The definition of a function; the same object for the same node and enclosing frame."""
    closure = frame if frame.scope is not None else None
    key = (id(node), id(closure))
    function = frame.machine.functions.get(key)
    if function is None:
        name = getattr(node, "name", "<lambda>")
        prefix = f"{owner.qualname}." if owner else _enclosing(frame, node, offset)
        function = Function(node, frame.module, offset, prefix + name, closure, owner)
        frame.machine.functions[key] = function
    return function


def class_of(frame: Frame, node: ast.ClassDef, offset: int, within: Class | None = None) -> Class:
    """The definition of a class; bases are evaluated, members when asked for."""
    closure = frame if frame.scope is not None else None
    key = (id(node), id(closure))
    cls = frame.machine.classes.get(key)
    if cls is None:
        name = _enclosing(frame, node, offset) + node.name
        cls = Class(node, frame.module, offset, name, closure, within=within)
        frame.machine.classes[key] = cls
        cls.bases = tuple(frame.machine.evaluate(frame, base) for base in node.bases)
        cls.decorators = tuple(_dotted(frame, decorator) for decorator in node.decorator_list)
    return cls


def decorated(frame: Frame, decorators: list[ast.expr], offset: int, value: Value) -> Value:
    """Apply decorators, the lowest first; those that keep what the function does are seen through."""
    previous_offset, previous_application = frame.offset, frame.application
    frame.offset = offset
    for decorator in reversed(decorators):
        value = _apply(frame, decorator, value)
    frame.offset, frame.application = previous_offset, previous_application
    return value


def _apply(frame: Frame, decorator: ast.expr, value: Value) -> Value:
    name = _dotted(frame, decorator)
    function = value.function
    if function is not None and name:
        if name in ("builtins.staticmethod", "builtins.classmethod"):
            function.binding = "static" if name.endswith("staticmethod") else "class"
            return value
        _tell(function, name, decorator)
    if name in ("builtins.staticmethod", "builtins.classmethod"):
        if value.mark is not None and value.mark.function is not None:
            value.mark.function.binding = "static" if name.endswith("staticmethod") else "class"
        return value
    marker = MARKERS.get(name)
    callee = frame.machine.evaluate(frame, decorator)
    if marker is not None and marker.kind == "disable" and value.mark is not None:
        value.mark.disabled = True
    if function is not None and callee.kind in (Kind.OBJECT, Kind.INSTANCE):
        function.managers.append((decorator, callee))
    if marker is not None or _is_program(callee) or _is_marker(callee):
        frame.application = (frame.module.path, frame.offset, decorator)
        result = frame.machine.call(frame, decorator, callee, [value], {})
        _look_into(frame, decorator, value, result)
        return value if result.kind is Kind.UNKNOWN else result
    _register(frame, decorator, callee, value)
    return strict_switch.applied(callee, value)


def _tell(function: Function, name: str, decorator: ast.expr) -> None:
    """What a decorator by its name says of the function below it."""
    if name in _PROPERTIES:
        function.binding = "property"
    if name in _CACHES:
        function.cached_at = decorator
    if name in _CONTEXT_MANAGERS:
        function.context_manager = True
    if name.endswith("inference_mode") and name.startswith("torch."):
        function.modes.append(decorator)
    if name in _TRAITS:
        function.traits.add(_TRAITS[name])


def _look_into(frame: Frame, decorator: ast.expr, value: Value, result: Value) -> None:
    """Run what a decorator put around a function once, where it applies a marker when it is called."""
    if result.function is None or result.ref is value.ref or not frame.static:
        return
    made = result.function.closure is not None and result.function.closure.caller is not None
    if made and frame.machine.may_mark(result.function.node):
        arguments = result.function.node.args
        named = {argument.arg: UNKNOWN for argument in arguments.kwonlyargs}
        frame.machine.call(frame, decorator, result, [UNKNOWN] * len((*arguments.posonlyargs, *arguments.args)), named)


def _is_program(callee: Value) -> bool:
    return any(alternative.kind in _OF_PROGRAM for alternative in callee.alternatives())


def _register(frame: Frame, decorator: ast.expr, callee: Value, value: Value) -> None:
    """Let the operators that a decorator belongs to know of the function below it."""
    for alternative in callee.alternatives():
        if _registers(alternative):
            frame.machine.call(frame, decorator, alternative, [value], {})


def _registers(callee: Value) -> bool:
    """Whether a callee registers a function with an operator: `@op.register_fake`, `@op.register_kernel("cuda")`."""
    if callee.partial is not None:
        return _registers(callee.partial.function)
    return callee.external_method is not None and callee.external_method.receiver.kind is Kind.MARKED


def _is_marker(callee: Value) -> bool:
    known = (alternative.ref for alternative in callee.alternatives() if alternative.kind is Kind.EXTERNAL)
    return any(name in MARKERS or name in REGISTRARS for name in known)


def _dotted(frame: Frame, decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return ""
    found = frame.machine.evaluate(frame, node)
    if found.kind is Kind.EXTERNAL and not (isinstance(decorator, ast.Call) and found.dotted in MARKERS):
        return found.dotted
    return ""


def _enclosing(frame: Frame, node: FunctionNode | ast.ClassDef, offset: int) -> str:
    """What stands before the name of a definition in a frame."""
    if frame.scope is None or frame.function is None:
        return frame.module.around(node.lineno + offset)
    return f"{frame.function.qualname}.<locals>."
