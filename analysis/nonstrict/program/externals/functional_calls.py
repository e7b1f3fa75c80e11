"""Functions and modules that functions of torch are given and call, and which modules depend on their mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import nn_module
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.references import Partial
from nonstrict.program.domain.values import NESTED_MODULES, UNKNOWN, Kind, Value
from nonstrict.program.objects import container_flow

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from nonstrict.program.state.frames import Frame

_FUNCTIONAL_CALLS = frozenset({"torch.func.functional_call", "torch.nn.utils.stateless.functional_call"})
CHECKPOINT = "torch.utils.checkpoint.checkpoint"
#: Arguments of `checkpoint` that are not for the function.
_OPTIONS = frozenset(
    {"use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state", "respect_ac"}
)


def called(frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value | None:
    """The result of `functional_call(module, parameters, inputs)`, and of `checkpoint(function, *arguments)`.

    None for other calls, and where the mode matters.
    """
    if name == CHECKPOINT and positional and not frame.static:
        return frame.machine.call(frame, node, positional[0], positional[1:], given_to_body(keywords))
    module = positional[0] if name in _FUNCTIONAL_CALLS and len(positional) > 2 else UNKNOWN
    if module.kind is not Kind.MODULE or mode_dependent(module):
        return None
    inputs = positional[2]
    given = [inputs] if inputs.kind is not Kind.TUPLE or inputs.heap is None else list(inputs.heap.items.values())
    for value in positional[1:]:
        container_flow.consume_all(frame, node, value)
    return frame.machine.call(frame, node, module.at(FRESH), given, {})


def given_to_body(keywords: Mapping[str, Value]) -> dict[str, Value]:
    """The keyword arguments that `checkpoint` passes on."""
    return {name: value for name, value in keywords.items() if name not in _OPTIONS}


def mode_dependent(module: Value, depth: int = 0) -> str:
    """The name of the submodule whose result depends on train or eval mode; "" if none is known to."""
    if not module.dotted:
        return ""
    known = nn_module(module.dotted)
    if known is None:
        return ""
    told = module.heap.switched if module.heap is not None else None
    switched = known.mode_default if told is None else told
    if known.mode_dependent and (not known.mode_argument or switched):
        return module.dotted.rpartition(".")[2]
    if known.container and module.heap is not None and depth < NESTED_MODULES:
        for child in (*module.heap.items.values(), *([module.heap.element] if module.heap.element else [])):
            for alternative in child.alternatives():
                found = mode_dependent(alternative, depth + 1) if alternative.kind is Kind.MODULE else ""
                if found:
                    return found
    return ""


def transformed(positional: list[Value]) -> Value:
    """`vmap(f)` and the like give a function, `checkpoint(f, x)` and the like a result."""
    if len(positional) == 1:
        return Value(Kind.PARTIAL, FRESH, Partial(positional[0], (), ()))
    return UNKNOWN


def call_given(frame: Frame, node: ast.AST, values: list[Value]) -> None:
    """Call the functions among some arguments with the tensors among them."""
    tensors = [value for value in values if value.is_tensor] or [Value(Kind.TENSOR)]
    for value in values:
        if value.kind in (Kind.FUNCTION, Kind.BOUND) and not frame.static:
            function = value.bound.function if value.bound is not None else value.function
            wanted = len(function.node.args.args) if isinstance(function, Function) else 0
            frame.machine.call(frame, node, value, (tensors * max(wanted, 1))[:wanted], {})
