"""The judgement of a finding as a session keeps it, and which of two says more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Status

if TYPE_CHECKING:
    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.neutralising import Neutral
    from nonstrict.confirm.programs import Schedule

_LEVEL = {Status.CONFIRMED: 3, Status.REFUTED: 2, Status.INCONCLUSIVE: 1}
#: Reasons that say how far an experiment came, the least telling first; all others tell more.
_REASONS = (
    "inputs",
    "timeout",
    "memory",
    "gpu-memory",
    "processes",
    "load",
    "line-not-reached",
    "eager-raises",
    "needs",
    "not-compiled",
    "shared",
    "blocked",
    "few-values",
    "few-runs",
    "unclear-owner",
    "other-guard",
    "insensitive",
)


class Told(NamedTuple):
    """The judgement of a finding, how it was reached, how long it took (s), what the run would have changed.

    `without` is the program that was run where other findings were in the way, `inputs` what its first call was given.
    """

    judgement: Judgement
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    device: str = ""
    schedule: Schedule | None = None
    without: Neutral | None = None
    inputs: tuple[str, ...] = ()

    @property
    def evidence(self) -> str:
        """What was seen, and what was changed for it."""
        told = self.judgement.evidence
        if told and self.schedule is not None and self.schedule.follow is not None:
            told += "; other regions were left to eager code"
        return told if self.without is None else f"{told}; judged without {', '.join(self.without.done)}"


class Unexplained(NamedTuple):
    """Compiled and eager code disagree, and no finding explains it; `number` is that of a finding in the same run."""

    number: int
    judgement: Judgement


def says_more(fresh: Told, known: Told) -> bool:
    """Whether a judgement tells more than another one of the same finding."""
    if _LEVEL[fresh.judgement.status] != _LEVEL[known.judgement.status]:
        return _LEVEL[fresh.judgement.status] > _LEVEL[known.judgement.status]
    return _weight(fresh.judgement.reason) > _weight(known.judgement.reason)


def _weight(reason: str) -> int:
    return _REASONS.index(reason) if reason in _REASONS else len(_REASONS)
