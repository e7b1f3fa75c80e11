"""What runs tell of an application of `torch.compile`: whether anything was compiled, and what it is to others.

The verdicts of NST801 and NST802, which are about the application and not about what a region computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect

#: The findings that are about an application.
ASKED = frozenset({Experiment.COMPILED, Experiment.IDENTITY})


class Applied(NamedTuple):
    """What arms tell of the application on the line of a marker, added up."""

    made: int
    calls: int
    graphs: int
    renamed: int


def applied(suspect: Suspect, traces: Iterable[Mapping[str, Any]]) -> Applied:
    """The application that a suspect is about, in whichever arm most became of it."""
    found = Applied(0, 0, 0, 0)
    for trace in traces:
        own = [one[2:] for one in trace.get("applied", ()) if (one[0], one[1]) == (suspect.file, suspect.marked_line)]
        sums = [sum(column) for column in zip(*own, strict=True)] or [0, 0, 0]
        found = Applied(max(found.made, len(own)), *(max(pair) for pair in zip(found[1:], sums, strict=True)))
    return found


def verdict(suspect: Suspect, traces: Sequence[Mapping[str, Any]], *, compiled: bool) -> tuple[Status, str] | None:
    """The status of a suspect and a sentence; None if its application was not reached.

    `compiled` says whether arms are among the traces that compile: without, only that nothing is called is known.
    """
    found = applied(suspect, traces)
    if not found.made:
        return None
    if suspect.experiment is Experiment.IDENTITY:
        if found.renamed:
            return (
                Status.CONFIRMED,
                f"{found.renamed} names of the module's state begin with `_orig_mod.` in its wrapper",
            )
        return Status.REFUTED, "the state of what `torch.compile` returned has the names of the module's own"
    if not found.calls:
        return Status.CONFIRMED, "what `torch.compile` returned was never called: no frame was compiled"
    if not compiled:
        return None
    if found.graphs:
        return Status.REFUTED, f"{found.graphs} graphs were compiled"
    # Another application may have compiled the same code before.
    if any(one[3] for trace in traces for one in trace.get("applied", ())):
        return None
    return Status.CONFIRMED, f"{found.calls} calls of what `torch.compile` returned compiled no graph"
