"""What the result of `assume_constant_result` is made of besides captured state: the data of its arguments.

Measured on torch 2.13.0: the function runs once per compilation, with the real tensors of that call. Shapes, dtypes and
devices of its arguments are guarded, what tensors hold is not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.walk import walk
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Flag, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body

#: Methods of modules that hand out all parameters.
_PARAMETERS = frozenset({"parameters", "named_parameters", "state_dict"})
_MAY_BE_TENSORS = frozenset({Kind.TENSOR, Kind.UNKNOWN, Kind.UNION, Kind.LIST, Kind.TUPLE, Kind.DICT})


def is_traced(body: Body) -> bool:
    """Whether another marker has the function traced all the same: `nonstrict_trace` above or below it wins."""
    stack = body.applied.stack
    return any(one.kind == "nonstrict" for one in (*stack.above, *stack.below))


def argument_data(body: Body) -> Iterator[tuple[Observed, bool]]:
    """Where the function needs the data of its tensor arguments, or of parameters of its modules (False)."""
    passed = _passes_data(body)
    for seen in body.observed(Event.ESCAPE):
        if seen.in_hook:
            continue
        value = seen.effect.value
        own = not seen.chain and not _derived(value) and _mentions_parameters(body, seen.effect.node)
        if own or _of_module(body, value):
            yield seen, False
        elif passed and _derived(value):
            yield seen, True


def returns_data(body: Body, value: Value) -> bool:
    """Whether a result is a tensor that was computed from those given."""
    computed = value.kind is Kind.TENSOR and value.place.root is Root.FRESH
    return computed and bool(value.flags & Flag.ATTACHED) and _passes_data(body)


def _derived(value: Value) -> bool:
    own = value.place.root is Root.ARGUMENT and not any(step.startswith(".") for step in value.place.path)
    return own or bool(value.flags & Flag.ATTACHED)


def _of_module(body: Body, value: Value) -> bool:
    """Whether a value is a parameter of a module argument, or a buffer of one that the project changes."""
    if value.place.root is not Root.ARGUMENT or not any(step.startswith(".") for step in value.place.path):
        return False
    return value.kind is Kind.PARAMETER or (value.is_tensor and bool(body.writers(value.place)))


def _at(module: Value, name: str) -> AccessPath:
    return module.place.step(f".{name}")


def _passes_data(body: Body) -> bool:
    """Whether some region passes a tensor that may differ from call to call: not what a global or a module holds."""
    sites = [site for site in body.sites if site.compiled] or body.sites
    given = [value for site in sites for value in (site.written or site.arguments).values()]
    return not sites or any(_varies(one) for value in given for one in value.alternatives())


def _varies(value: Value) -> bool:
    held = value.place.captured or (value.place.root is Root.ARGUMENT and value.place.path)
    return value.kind in _MAY_BE_TENSORS and not held


def _mentions_parameters(body: Body, node: ast.AST) -> bool:
    """Whether an expression names parameters of a module argument: `self.weight.sum()`, `model.parameters()`."""
    for inner in walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            module = body.arguments.get(inner.value.id)
            if module is None or module.kind is not Kind.MODULE or module.place.root is not Root.ARGUMENT:
                continue
            held = module.heap.attributes.get(inner.attr) if module.heap is not None else None
            if inner.attr in _PARAMETERS or (held is not None and _of_module(body, held.at(_at(module, inner.attr)))):
                return True
    return False
