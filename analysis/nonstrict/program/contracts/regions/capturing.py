"""What is known of the CUDA graphs of a region."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.knowledge import cuda_graphs
from nonstrict.program.domain.definitions import DEFAULT_BACKEND

if TYPE_CHECKING:
    from nonstrict.facts.holding import Way
    from nonstrict.findings import Related, Span
    from nonstrict.program.domain.definitions import CompileOptions
    from nonstrict.program.domain.effects import Observed


class Recorded(NamedTuple):
    """Something that varies, of whose `values` each has a CUDA graph of its own."""

    seen: Observed
    values: int
    evidence: tuple[Related, ...]


class Limit(enum.Enum):
    """What a result is kept beyond."""

    RUN = "run"
    """A run of any CUDA graph."""
    STEP = "step"
    """A step that the program tells torch to begin."""
    BACKWARD = "backward"
    """Its backward pass, until which torch leaves it alone."""
    NEVER = "never"
    """A run, while torch waits for a backward pass that the program does not have: it runs without CUDA graphs."""


class KeptResult(NamedTuple):
    """A result that is kept beyond a `limit`, behind which a CUDA graph has its memory: in which `way`, in what.

    `value` is the expression that gives it there.
    """

    seen: Observed
    way: Way
    name: str
    value: Span
    evidence: tuple[Related, ...]
    limit: Limit


class CudaGraphs(NamedTuple):
    """The changes in place for which a region runs without them, what is recorded anew, and results that are kept."""

    changed: tuple[Observed, ...] = ()
    recorded: tuple[Recorded, ...] = ()
    kept: tuple[KeptResult, ...] = ()


NO_CUDA_GRAPHS = CudaGraphs()


def are_asked_for(options: CompileOptions) -> bool:
    """Whether a region is compiled to CUDA graphs where it computes on a GPU, as far as its options are known."""
    if options.backend_name != DEFAULT_BACKEND:
        return False
    if isinstance(options.options, tuple):
        return any(cuda_graphs.is_asked_for(f'options={{"{name}": {value}}}') for name, value in options.options)
    return isinstance(options.mode, str) and cuda_graphs.is_asked_for(f'mode="{options.mode}"')
