"""What a module holds that compiled code gets wrong where the module is captured."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import BASE_MODULES, nn_module
from nonstrict.program.domain.values import PRIMITIVES, Kind

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value

#: What gives a module parameters, buffers or submodules outside of `__init__`, or under names that are not to be had.
_REGISTERING = frozenset(
    {"Parameter", "Buffer", "register_parameter", "register_buffer", "register_module", "add_module", "setattr"}
)


class Holds(enum.Enum):
    """What of a captured module the compiler gets wrong, the worst first."""

    PARAMETERS = "parameters"
    MODE = "mode"
    NOTHING = "nothing"


def holds(value: Value) -> Holds:
    """What a module of torch holds by its class and its children; any other module is taken to hold parameters."""
    held = [_of_one(alternative) for alternative in value.alternatives() if alternative.kind is not Kind.NONE]
    return next((worst for worst in Holds if worst in held), Holds.PARAMETERS)


def is_capture(called: Value) -> bool:
    """Whether calling an object uses a captured module of which something is lost."""
    return called.kind is Kind.MODULE and called.place.captured and holds(called) is not Holds.NOTHING


def _of_one(value: Value) -> Holds:
    if value.kind is Kind.MODULE and value.of_class is not None:
        return _of_class(value)
    known = nn_module(value.dotted) if value.kind is Kind.MODULE and value.dotted else None
    if known is None or known.has_parameters:
        return Holds.PARAMETERS
    if known.container:
        heap = value.heap
        return holds(heap.element) if heap is not None and heap.element and not heap.open else Holds.PARAMETERS
    return Holds.MODE if known.mode_dependent else Holds.NOTHING


def _of_class(value: Value) -> Holds:
    """What a module of the program holds, by its `__init__`: without tensors and submodules nothing is lost."""
    heap, cls = value.heap, value.of_class
    names = {last_name(node) for node in walk(cls.node)} if cls is not None else set[str]()
    if cls is None or heap is None or heap.open or names & _REGISTERING:
        return Holds.PARAMETERS
    # Only direct subclasses: what another base does is not to be had.
    if any(base.dotted not in BASE_MODULES for base in cls.bases):
        return Holds.PARAMETERS
    if any(part.kind not in PRIMITIVES for held in heap.attributes.values() for part in held.alternatives()):
        return Holds.PARAMETERS
    return Holds.MODE if "training" in names else Holds.NOTHING
