"""Binds arguments to parameters: what a caller passed, or what annotations, defaults and use say."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from nonstrict.facts.usage import used_as
from nonstrict.program.domain.access_paths import FRESH, NOWHERE, AccessPath, Root
from nonstrict.program.domain.values import (
    CONTEXT,
    NO_CONSTANT,
    PRIMITIVES,
    REST,
    TENSORS,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    join,
)
from nonstrict.program.objects import classes, dtypes
from nonstrict.program.objects.annotations import promised_value
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_SHARED = frozenset({Kind.LIST, Kind.DICT, Kind.SET})
_USES = {
    "tensor": Value(Kind.TENSOR),
    "list": Value(Kind.LIST),
    "dict": Value(Kind.DICT),
    "context": CONTEXT,
}


def bind(frame: Frame, function: Function, positional: Sequence[Value], keywords: dict[str, Value]) -> dict[str, Value]:
    """The variables of a called function; arguments that the call leaves out take their defaults."""
    arguments = function.node.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    bound: dict[str, Value] = {}
    for parameter, value in zip(ordered, positional, strict=False):
        bound[parameter.arg] = value
    extra = list(positional[len(ordered) :])
    spare = dict(keywords)
    others = spare.pop(REST, None)
    for parameter in (*ordered, *arguments.kwonlyargs):
        if parameter.arg in spare:
            bound[parameter.arg] = spare.pop(parameter.arg)
    definition = definition_frame(frame, function)
    defaults = default_nodes(arguments)
    for parameter in (*ordered, *arguments.kwonlyargs):
        given = bound.get(parameter.arg)
        if given is None:
            left_out = _default(definition, function, parameter, defaults.get(parameter.arg))
            bound[parameter.arg] = left_out if others is None else left_out._replace(const=NO_CONSTANT)
        elif given.kind is Kind.UNKNOWN and parameter.annotation is not None:
            promised = promised_value(definition, parameter.annotation, given.place)
            bound[parameter.arg] = promised.with_taint(given.taint)
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = container(Kind.TUPLE, *extra)
    if arguments.kwarg is not None:
        rest = container(Kind.DICT)
        if rest.heap is not None:
            for name, value in spare.items():
                rest.heap.store(name, value)
            rest.heap.open = others is not None
        bound[arguments.kwarg.arg] = rest
    return bound


def default_nodes(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Default expressions by parameter name."""
    ordered = [*arguments.posonlyargs, *arguments.args]
    found: dict[str, ast.expr] = {}
    if arguments.defaults:
        for parameter, default in zip(ordered[-len(arguments.defaults) :], arguments.defaults, strict=True):
            found[parameter.arg] = default
    for parameter, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is not None:
            found[parameter.arg] = keyword_default
    return found


def definition_frame(frame: Frame, function: Function) -> Frame:
    """The frame in which a function's annotations and defaults are evaluated."""
    return closure_of(function) or frame.machine.module_frame(function.module)


def _default(definition: Frame, function: Function, parameter: ast.arg, node: ast.expr | None) -> Value:
    if node is None:
        return promised_value(definition, parameter.annotation, NOWHERE)
    computed = definition.machine.defaults
    if node in computed:
        return UNKNOWN  # a default that calls its own function
    computed.add(node)
    value = definition.machine.evaluate(definition, node)
    computed.discard(node)
    if value.kind in (Kind.NUMBER, Kind.STRING, Kind.BOOL, Kind.NONE, Kind.SETTING) or value.kind is Kind.UNKNOWN:
        return value.at(FRESH) if value.kind is not Kind.UNKNOWN else UNKNOWN
    if not definition.static:
        return value
    return _captured_default(value, function, parameter)


def shared_defaults(definition: Frame, function: Function) -> dict[str, Value]:
    """The defaults of a function that are tensors or modules: all calls that leave them out share these."""
    found: dict[str, Value] = {}
    arguments = function.node.args
    nodes = default_nodes(arguments)
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if nodes else ():
        node = nodes.get(parameter.arg)
        if node is not None and not isinstance(node, ast.Constant):
            value = _captured_default(definition.machine.evaluate(definition, node), function, parameter)
            if value.place.root is Root.DEFAULT and (value.kind in TENSORS or value.kind is Kind.MODULE):
                found[parameter.arg] = value
    return found


def _captured_default(value: Value, function: Function, parameter: ast.arg) -> Value:
    if value.place.root is Root.GLOBAL and value.kind in _SHARED and not _holds_tensors(value):
        return value  # the object that a global holds, and that others may change through it
    if value.kind in TENSORS or value.kind in (Kind.MODULE, Kind.LIST, Kind.DICT, Kind.SET, Kind.OBJECT, Kind.NUMPY):
        return value.at(AccessPath(Root.DEFAULT, f"{function.module.path}:{function.qualname}", parameter.arg))
    return value


def _holds_tensors(value: Value) -> bool:
    held = value.heap.element if value.heap is not None else None
    return held is not None and any(one.kind in TENSORS or one.kind is Kind.MODULE for one in held.alternatives())


def of_marked(frame: Frame, function: Function, seen: dict[str, Value], receiver: Value | None) -> dict[str, Value]:
    """The parameters of a marked function, as its body is traced.

    What a parameter is comes from its annotation, else from the calls that were seen (`seen`), else from its default
    and its use in the body; it lives at its own argument place.
    """
    arguments = function.node.args
    definition = definition_frame(frame, function)
    defaults = default_nodes(arguments)
    use = used_as(function.node)
    bound: dict[str, Value] = {}
    ordered = [*arguments.posonlyargs, *arguments.args]
    for index, parameter in enumerate((*ordered, *arguments.kwonlyargs)):
        name = parameter.arg
        place = AccessPath(Root.ARGUMENT, "", name)
        if index == 0 and receiver is not None:
            bound[name] = receiver
        elif index == 0 and function.node in frame.machine.gradients:
            bound[name] = CONTEXT
        elif index == 0 and function.owner is not None and not function.binding:
            bound[name] = classes.instance_at(frame.machine, function.owner, place)
        elif index == 0 and function.owner is not None and function.binding == "class":
            bound[name] = Value(Kind.CLASS, FRESH, function.owner)
        else:
            bound[name] = _argument(definition, function, parameter, place, defaults.get(name), seen, use)
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = _variadic(definition, arguments.vararg, seen.get(arguments.vararg.arg))
    if arguments.kwarg is not None:
        name = arguments.kwarg.arg
        rest = argument_value(seen.get(name, container(Kind.DICT)), AccessPath(Root.ARGUMENT, "", name))
        if rest.heap is not None:
            rest.heap.open = True
        bound[name] = rest.at(FRESH)
    return bound


def _variadic(definition: Frame, parameter: ast.arg, passed: Value | None) -> Value:
    """The tuple of `*args`: what calls pass if they pass as many, else as many of one kind."""
    place = AccessPath(Root.ARGUMENT, "", parameter.arg)
    if passed is not None and passed.kind is Kind.TUPLE:
        return argument_value(passed, place)
    heap = AbstractObject()
    heap.element = passed or promised_value(definition, parameter.annotation, NOWHERE).at(place.step("[]"))
    return Value(Kind.TUPLE, place, heap=heap)


def _argument(
    definition: Frame,
    function: Function,
    parameter: ast.arg,
    place: AccessPath,
    default: ast.expr | None,
    seen: dict[str, Value],
    use: dict[str, str],
) -> Value:
    promised = promised_value(definition, parameter.annotation, place)
    passed = seen.get(parameter.arg)
    if isinstance(default, ast.Constant) and default.value is None:
        found = _argument(definition, function, parameter, place, None, seen, use)
        return found._replace(flags=found.flags | Flag.OPTIONAL) if found.kind in TENSORS else found
    if passed is not None and passed.kind is not Kind.UNKNOWN and _refines(promised, passed):
        return argument_value(passed, place)
    if passed is not None and passed.is_tensor and promised.is_tensor:
        return _attached(dtypes.like(promised, passed))
    if promised.kind is Kind.UNKNOWN and default is not None:
        value = definition.machine.evaluate(definition, default)
        if value.kind in PRIMITIVES and value.kind is not Kind.NONE:
            return Value(value.kind, place)
        if value.kind not in PRIMITIVES and value.kind is not Kind.UNKNOWN and passed is None:
            return _captured_default(value, function, parameter)
    if promised.kind is Kind.UNKNOWN and parameter.arg in use:
        known = _USES[use[parameter.arg]]
        promised = known if known is CONTEXT else known.at(place)
    return _attached(promised)


def _refines(promised: Value, passed: Value) -> bool:
    if promised.kind is Kind.UNKNOWN:
        return True
    if promised.kind is Kind.MODULE and passed.kind is Kind.MODULE:
        return True
    if promised.kind is Kind.UNION:
        return passed.kind is not Kind.NONE
    return promised.kind is passed.kind and passed.heap is not None


def argument_value(passed: Value, place: AccessPath) -> Value:
    """A value as a marked function receives it: constants vary, tensors are traced, objects keep their class."""
    if passed.kind is Kind.UNION:
        # Two tensors of the caller are one argument.
        return functools.reduce(join, (argument_value(member, place) for member in passed.alternatives())).at(place)
    heap = passed.heap
    if heap is not None and passed.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.DEQUE):
        heap = AbstractObject()
        if passed.heap is not None and passed.heap.element is not None:
            heap.element = argument_value(passed.heap.element, place.step("[]"))
            heap.loose = heap.element if passed.heap.loose is not None else None
            heap.unsure = passed.heap.unsure
            for key, item in passed.heap.items.items():
                heap.items[key] = argument_value(item, place.step(f"[{key!r}]"))
            for name, item in passed.heap.attributes.items():
                heap.attributes[name] = argument_value(item, place.step(f".{name}"))
    kind = Kind.TENSOR if passed.kind is Kind.PARAMETER else passed.kind
    return _attached(Value(kind, place, passed.ref, NO_CONSTANT, heap, passed.flags & dtypes.KNOWN))


def _attached(value: Value) -> Value:
    if value.kind in TENSORS:
        return value._replace(flags=value.flags | Flag.ATTACHED)
    return value


#: Kinds of which an annotation does not tell all: what a container holds, the class of a module, the dtype of a tensor.
_LEFT_OPEN = frozenset({Kind.UNKNOWN, Kind.MODULE, Kind.INSTANCE, Kind.LIST, Kind.UNION, Kind.TENSOR})


def needs_callers(machine: Machine, function: Function) -> bool:
    """Whether annotations leave open what some parameter is, or of which dtype, so that calls have to tell."""
    arguments = function.node.args
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if function.owner is not None and function.binding != "static":
        ordered = ordered[1:]
    definition = definition_frame(machine.module_frame(function.module), function)
    for parameter in ordered:
        promised = promised_value(definition, parameter.annotation, FRESH)
        if promised.kind in _LEFT_OPEN:
            return True
    return arguments.vararg is not None
