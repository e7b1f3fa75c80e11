"""Which tensors need gradients, and the operators without a formula for them on the way to a backward pass.

Only frames that `differentiates` keep track of it: tensors carry, as taint, that autograd records what is
computed of them (`NEEDED`), and each operator without a formula that they came through. Code under `no_grad` carries
nothing. Whatever is not known needs no gradients.

Source: autograd of torch 2.13 as measured. A custom operator gives results that require gradients if an argument does;
the backward pass through it raises, and so does compiling its forward pass.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Gradient
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import FLOATS, nn_module, tensor_method, torch_function
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.effects import NEEDED, Effect
from nonstrict.program.domain.values import NESTED_MODULES, NO_CONSTANT, Flag, Kind, Value, container
from nonstrict.program.externals import custom_operators, gradients
from nonstrict.program.objects import naming
from nonstrict.program.objects.dtypes import ASKED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.program.domain.definitions import Function, Mark, Operator
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: Functions that begin a backward pass.
BACKWARD_FUNCTIONS = frozenset({"torch.autograd.backward", "torch.autograd.grad"})
#: Context managers and decorators of torch that may turn gradients off.
SWITCHES = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_WITHOUT = frozenset({Kind.NUMBER, Kind.BOOL, Kind.STRING, Kind.SIZE, Kind.NONE, Kind.SETTING, Kind.NUMPY})
_INTERPRETED = frozenset({Kind.FUNCTION, Kind.BOUND, Kind.CLASS, Kind.PARTIAL, Kind.UNION})


def call(
    invoke: Callable[..., Value],
    frame: Frame,
    node: ast.AST,
    callee: Value,
    positional: Sequence[Value],
    keywords: dict[str, Value],
) -> Value:
    """The result of a call that `invoke` makes, with what it carries of its arguments."""
    receiver, name = _method(callee)
    given = [*positional, *keywords.values(), *([receiver] if receiver is not None else [])]
    if name == "apply" and receiver is not None and receiver.kind is Kind.CLASS:
        frame.differentiates = False  # what `forward` of an `autograd.Function` computes is not recorded
        result = invoke(frame, node, callee, positional, keywords)
        frame.differentiates = True
        return _carrying(result, _carried(positional))
    result = invoke(frame, node, callee, positional, keywords)
    if callee.kind in _INTERPRETED or (callee.kind in (Kind.MODULE, Kind.OBJECT) and not callee.dotted):
        return result
    if name == "backward" and receiver is not None:
        _note(frame, node, receiver.taint)
    elif callee.kind is Kind.EXTERNAL and callee.dotted in BACKWARD_FUNCTIONS:
        _note(frame, node, _carried(positional[:1]))
    elif callee.kind is Kind.EXTERNAL and callee.dotted.rpartition(".")[2] == "set_grad_enabled":
        _turn_off(frame, node, [*positional, *keywords.values()])
    operator = _operator(frame, callee)
    carried = _carried([*given, result] if result.kind is Kind.PARAMETER else given)
    if operator is not None:
        return _of_operator(frame, node, operator, result, carried)
    if _makes_leaf(callee, name, keywords, positional):
        carried |= {NEEDED}
        _rebind(frame, node, carried)
    if callee.kind is Kind.MODULE and _has_parameters(callee):
        carried |= {NEEDED}
    if _cuts(callee, name, result):
        return result.with_taint(frozenset(one for one in result.taint if one.event is not Event.GRADIENT))
    return _carrying(result, carried)


def _cuts(callee: Value, name: str, result: Value) -> bool:
    """Whether a result has no gradients, or may have none: it holds truth values, positions or other whole numbers."""
    dotted = callee.dotted if callee.kind is Kind.EXTERNAL else ""
    last = name or callee.dotted.rpartition(".")[2]
    operator = torch_function(dotted) if dotted else tensor_method(last)
    if last in ASKED or last == "data":
        return True
    if operator is None:
        return False
    if operator.cuts_gradients:
        return True
    several = operator.pairs and result.kind is not Kind.TENSOR
    return several or operator.result_dtype("float32") not in ("", "default", *FLOATS)


def of_marked(frame: Frame, mark: Mark) -> Frame:
    """The frame of a marked function: leaf functions keep track, as no gradient reaches what they capture."""
    function = mark.function
    frame.opaque = mark.operator is not None
    frame.differentiates = mark.kind == "leaf" and function is not None and not turned_off(frame.machine, function)
    return frame


def is_off(manager: Value) -> bool:
    """Whether a context manager may turn gradients off."""
    return isinstance(manager.ref, str) and manager.ref.rpartition(".")[2] in SWITCHES


def turned_off(machine: Machine, function: Function) -> bool:
    """Whether a decorator may turn gradients off for a function."""
    decorators = getattr(function.node, "decorator_list", [])
    frame = machine.module_frame(function.module)
    return any(is_off(machine.evaluate(frame, decorator)) for decorator in decorators)


def key(function: Function, bound: dict[str, Value]) -> tuple[object, ...]:
    """What tells two calls of a function apart: also what their arguments carry."""
    shapes = ((name, value.with_taint(_gradients(value.taint))) for name, value in bound.items())
    return (function, "differentiates", tuple(shapes))


def reached(value: Value) -> frozenset[Effect]:
    """The operators without a formula that a value came through."""
    return frozenset(one for one in _carried([value]) if one is not NEEDED)


def _method(callee: Value) -> tuple[Value | None, str]:
    return callee.external_method or (None, "")


def _operator(frame: Frame, callee: Value) -> Operator | None:
    if callee.mark is not None:
        return callee.mark.operator
    named = callee.kind is Kind.EXTERNAL and callee.dotted.startswith("torch.ops.")
    return custom_operators.by_name(frame.machine.operators, callee.dotted) if named else None


def _of_operator(frame: Frame, node: ast.AST, operator: Operator, result: Value, carried: frozenset[Effect]) -> Value:
    if not carried or operator.api == "leaf_function" or not operator.implementations:
        return _carrying(result, carried)
    called = Value(Kind.MARKED, ref=operator.implementations[0])
    through = Effect(Event.GRADIENT, frame.module.path, frame.offset, node, value=called)
    regions = frame.machine.regions
    if any(around.function is not None and around.function.node in regions for around in frame.around()):
        frame.emit(Event.GRADIENT, node, value=called, how=Gradient.REGION)
    return _carrying(result, carried | {through})


def _has_parameters(module: Value, depth: int = 0) -> bool:
    """Whether a module of torch, or one that it holds, has parameters that nothing freezes."""
    known = nn_module(module.dotted) if module.dotted else None
    if known is None or depth > NESTED_MODULES:
        return False
    held = module.heap.items.values() if known.container and module.heap is not None else ()
    return known.has_parameters or any(one.kind is Kind.MODULE and _has_parameters(one, depth + 1) for one in held)


def _turn_off(frame: Frame, node: ast.AST, given: Sequence[Value]) -> None:
    """`torch.set_grad_enabled(False)` as a statement holds from there on, for callers too."""
    holder = naming.text_of(frame)
    statement = any(isinstance(one, ast.Expr) and one.value is node for one in walk(holder))
    if statement and not all(value.const is True for value in given):
        for around in frame.around():
            around.differentiates = False


def _note(frame: Frame, node: ast.AST, carried: Iterable[Effect]) -> None:
    """A backward pass begins at what carries this."""
    for effect in carried:
        if effect.event is Event.GRADIENT and effect is not NEEDED:
            place = effect.place._replace(name=f"{effect.path}:{effect.span.line}:{effect.span.column}")
            frame.emit(Event.GRADIENT, node, place, effect.value, how=Gradient.BACKWARD)


def _makes_leaf(callee: Value, name: str, keywords: dict[str, Value], positional: Sequence[Value]) -> bool:
    """Whether a call gives a tensor that is said to require gradients."""
    if name == "requires_grad_":
        return gradients.switched(positional, keywords) is not False
    return callee.kind is Kind.EXTERNAL and callee.dotted.startswith("torch.") and gradients.asked_for(keywords)


def _rebind(frame: Frame, node: ast.AST, carried: frozenset[Effect]) -> None:
    """`x.requires_grad_()` changes what the variable holds."""
    holder = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if isinstance(holder, ast.Name) and holder.id in frame.env and frame.env[holder.id].is_tensor:
        frame.env[holder.id] = _carrying(frame.env[holder.id], carried)


def _carried(values: Iterable[Value]) -> frozenset[Effect]:
    found: frozenset[Effect] = frozenset()
    for value in values:
        for one in value.alternatives():
            held = one.heap.element if one.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) and one.heap is not None else None
            found |= _gradients(one.taint)
            if held is not None:
                found |= _gradients(held.taint)
            if one.kind is Kind.PARAMETER and not one.flags & Flag.FROZEN:
                found |= {NEEDED}
        found |= _gradients(value.taint)
    return found


def _gradients(taint: frozenset[Effect]) -> frozenset[Effect]:
    return frozenset(one for one in taint if one.event is Event.GRADIENT) if taint else taint


def _carrying(value: Value, carried: frozenset[Effect]) -> Value:
    """A result with what it carries, in containers their elements too."""
    if not carried or value.kind in _WITHOUT:
        return value
    if value.kind in (Kind.TUPLE, Kind.LIST) and value.heap is not None and value.place == FRESH:
        members = (_carrying(one, carried) for one in value.heap.items.values())
        made = container(value.kind, *members)
        if made.heap is not None and value.heap.loose is not None:
            made.heap.store(NO_CONSTANT, _carrying(value.heap.loose, carried))
        if made.heap is not None and made.heap.element is None and value.heap.element is not None:
            made.heap.element = _carrying(value.heap.element, carried)
        value = value._replace(heap=made.heap)
    return value.with_taint(value.taint | carried)
