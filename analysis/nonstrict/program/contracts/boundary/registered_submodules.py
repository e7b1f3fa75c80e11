"""What of a module argument torch knows to be a part of it: registered submodules, not what plain containers hold.

The parameters of registered submodules become inputs of the graph. Those of modules in a plain list or dict do not,
unless the same module is registered as well: measured on 2.13, the compile fails with inductor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import nn_module
from nonstrict.program.domain.values import NESTED_MODULES, AbstractObject, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator


def held_apart(root: Value, module: Value) -> bool:
    """Whether a module with parameters, reached through a plain container of `root`, is surely no part of it."""
    if root.kind is not Kind.MODULE or root.heap is None or module.heap is None or not _has_parameters(module, 0):
        return False
    parts = list(_parts(root.heap, 0))
    # A module that is registered under a name nobody knows may be any.
    return not any(part is None or part is module.heap for part in parts)


def _parts(heap: AbstractObject, depth: int) -> Iterator[AbstractObject | None]:
    """The contents of the modules registered in one, and in those; None for one of which nothing is known."""
    held = (*heap.attributes.values(), *heap.items.values(), *filter(None, (heap.element, heap.loose)))
    for value in held if depth < NESTED_MODULES else ():
        for alternative in value.alternatives():
            if alternative.kind is Kind.MODULE:
                yield alternative.heap
                yield from _parts(alternative.heap, depth + 1) if alternative.heap is not None else ()


def _has_parameters(module: Value, depth: int) -> bool:
    if module.dotted:
        known = nn_module(module.dotted)
        if known is not None and not known.container:
            return known.has_parameters
    held = module.heap.attributes.values() if module.heap is not None else ()
    inside = module.heap.items.values() if module.heap is not None else ()
    return depth < NESTED_MODULES and any(
        value.kind is Kind.PARAMETER
        or bool(value.flags & Flag.REGISTERED)
        or (value.kind is Kind.MODULE and _has_parameters(value, depth + 1))
        for value in (*held, *inside)
    )
