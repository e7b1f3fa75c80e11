"""What is known of the CUDA graphs of a region."""

from __future__ import annotations

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


class KeptResult(NamedTuple):
    """A result that is kept while a CUDA graph runs which has its memory: in which `way`, and under which name.

    `result` is the call that gives it.

    With `stepwise` the program tells torch where its steps begin, and the result is kept beyond one of them. `surely`
    says that no gradient is asked of it, for which torch would leave it alone.
    """

    seen: Observed
    way: Way
    name: str
    result: Span
    evidence: tuple[Related, ...]
    stepwise: bool = False
    surely: bool = True


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
