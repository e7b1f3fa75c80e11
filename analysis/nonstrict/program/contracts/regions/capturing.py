"""What is known of the CUDA graphs of a region."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nonstrict.facts.holding import Way
    from nonstrict.findings import Related, Span
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Kind


#: What findings are about, besides a `Part` or a `Limit`: a change in place, and its rows in the table.
CHANGED = "CHANGED"
CHANGED_IN_PLACE = "changed in place"


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

    `value` is the expression that gives it there; with `is_value` all of what that gives, and no part of it. `kinds`
    are those of what is kept, `Kind.UNKNOWN` among them where it may be something else. The region is called where it
    is `made`.
    """

    seen: Observed
    way: Way
    name: str
    value: Span
    evidence: tuple[Related, ...]
    limit: Limit
    kinds: frozenset[Kind]
    is_value: bool
    made: Span


class Part(enum.Enum):
    """A part of a region that its CUDA graphs may not have; the value is its row in the table."""

    DRAWN = ("on the CPU", "drawn and moved")
    """Random numbers of the CPU."""
    INDEX = ("on the CPU", "index made")
    STORED_INDEX = ("on the CPU", "index of an assignment")
    COPIED_BACK = ("on the CPU", "copied back and forth")
    """A tensor is computed with on the CPU."""
    SCALAR = ("on the CPU", "attribute of the module, of no dimensions")
    GLOBAL_SCALAR = ("on the CPU", "global of no dimensions")
    ARGUMENT_SCALAR = ("on the CPU", "argument of no dimensions")
    MADE = ("on the CPU", "made and moved")
    """Any other tensor that the region makes."""
    MOVED = ("on the CPU", "attribute of the module, moved")
    """A tensor from outside is copied to the GPU."""
    ARGUMENT_MOVED = ("on the CPU", "argument, moved")
    CONDITION = ("operators", "torch.cond")
    SELECTED = ("operators", "selection by a mask")
    COUNTED = ("operators", "nonzero")
    """Data decides how large a result is."""
    OTHER_GPU = ("operators", "two devices")
    DATA = ("operators", "data assigned")
    """A tensor gets other memory."""
    DYNAMIC = ("varies", "size, skip_dynamic_graphs")
    """What follows from a size that varies, of which an option says that it is not captured."""
    CPP_WRAPPER = ("options", "config.cpp_wrapper = True")
    """All of it, for an option."""

    __hash__ = object.__hash__

    @property
    def is_on_cpu(self) -> bool:
        """Whether it is one for being made on the CPU."""
        return self.value[0] == Part.DRAWN.value[0]


class LeftOut(NamedTuple):
    """A part of a region that is no part of a CUDA graph; where the whole region is `skipped`, nothing is."""

    seen: Observed
    part: Part
    skipped: bool
    evidence: tuple[Related, ...] = ()


class CudaGraphs(NamedTuple):
    """What a region runs without them for, what is recorded anew, and results that are kept.

    `changed` are the changes in place that are skipped for.
    """

    changed: tuple[Observed, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    recorded: tuple[Recorded, ...] = ()
    kept: tuple[KeptResult, ...] = ()


NO_CUDA_GRAPHS = CudaGraphs()
