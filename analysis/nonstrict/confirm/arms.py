"""Runs the arms of a schedule and remembers their traces, so that findings of one file share what was run for one."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nonstrict.confirm.programs import BACKENDS, EAGER, INDUCTOR, Program, Schedule, job_of, unabridged
from nonstrict.confirm.shares import Joined, Share, shares_of
from nonstrict.confirm.traces import Captured

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

#: The wall clock of an arm whose driver lies in another file, which may be a training script (s).
TRIAL_SECONDS = 30.0
#: The arm that only traces, with fake tensors: it proves what happens inside a body, in a fraction of the time.
FAKE = "fake"


class Result(Protocol):
    """What became of a job (`nonstrict.confirm.client.JobResult`)."""

    @property
    def value(self) -> dict[str, Any] | None:
        """What it returned."""
        ...

    @property
    def failure(self) -> str:
        """Why it did not, in one word."""
        ...

    @property
    def detail(self) -> str:
        """The same as a sentence."""
        ...

    @property
    def changes(self) -> Sequence[Any]:
        """What it would have changed on the disk."""
        ...

    @property
    def seconds(self) -> float:
        """Its wall clock."""
        ...


class Pending(Protocol):
    """A job that was handed in (`nonstrict.confirm.client.Ticket`)."""

    def result(self, timeout: float | None = None) -> Result:
        """Wait for what became of it."""
        ...


class Runner(Protocol):
    """Runs jobs (`nonstrict.confirm.client.Agent`)."""

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> Pending:
        """Hand in a job."""
        ...


class Limits(NamedTuple):
    """What an experiment may take and do.

    `seconds` is the wall clock of one arm. With `full_import`, files are imported whole where a part of them does not
    load. `slots` is how many arms of one program may run at a time.
    """

    seconds: float = 60.0
    device: str = "cpu"
    backends: tuple[str, ...] = BACKENDS
    full_import: bool = False
    slots: int = 1


class ArmRunner:
    """The arms of one program, each run once; may be used from several threads."""

    def __init__(self, runner: Runner, limits: Limits) -> None:
        """Remember where jobs go and what they may take."""
        self.runner = runner
        self.limits = limits
        self._pending: dict[str, Pending] = {}
        self._shares: dict[str, tuple[Share, ...]] = {}
        self._lock = threading.Lock()
        #: The user's files that were loaded.
        self.files: set[str] = set()
        #: Whether a program wrote where results are written: then what other arms say of it is not believed either.
        self.tampered = False

    def hand_in(self, job: dict[str, Any], seconds: float | None = None) -> Pending:
        """Hand in a job, unless the same one was handed in before; `seconds` is its wall clock if it may take less."""
        key = _key(job)
        with self._lock:
            if key not in self._pending:
                self._pending[key] = self.runner.submit(job, min(self.limits.seconds, seconds or self.limits.seconds))
            return self._pending[key]

    def start(self, program: Program, schedule: Schedule, backend: str, *, lines: bool = False) -> Pending:
        """Start an arm, or find the one that was started."""
        limits = self.limits
        job = job_of(program, schedule, backend, lines=lines, device=limits.device)
        seconds = TRIAL_SECONDS if schedule.program is not None else None
        shares = self._shares.get(_key(job), ())
        if not shares:
            return self.hand_in(job, seconds)
        return Joined(tuple(self.hand_in({**job, "only": share}, seconds) for share in shares), shares)

    def share(self, program: Program, schedule: Schedule) -> tuple[Share, ...]:
        """Let several arms of each backend compile a share of the regions each; no shares if one is to do it all.

        Only the schedule that a driver is first run with is shared out; none of its arms was started yet.
        """
        plain = Schedule(schedule.driver, calls=schedule.calls, group=schedule.group)
        if self.limits.slots < 2 or schedule != plain:
            return ()
        shares = shares_of(self.trace(program, schedule, EAGER), self.limits.slots)
        for backend in self.limits.backends:
            job = job_of(program, schedule, backend, lines=False, device=self.limits.device)
            self._shares[_key(job)] = shares
        return shares

    def trace(self, program: Program, schedule: Schedule, backend: str, *, lines: bool = False) -> dict[str, Any]:
        """The trace of an arm; one without calls, with the `reason`, where the arm came to no end."""
        result = self.start(program, schedule, backend, lines=lines).result()
        self.tampered = self.tampered or result.failure == "tampered"
        if result.value is None or result.failure:
            return {"calls": [], "failure": result.detail or result.failure, "reason": result.failure or "crash"}
        self.files.update(result.value.get("files", ()))
        return result.value

    def captured(self, program: Program, schedule: Schedule, places: Collection[tuple[str, int]]) -> Captured:
        """The traces of a schedule with CUDA graphs, for findings at some places.

        Inductor takes no graphs from caches: why operators are left out of CUDA graphs is decided where one is made.
        """
        looked = unabridged(program, schedule, places)._replace(captured=True)
        made = looked._replace(cached=False)
        return Captured(self.trace(program, looked, EAGER, lines=True), self.trace(program, made, INDUCTOR))

    def take_over(self, other: ArmRunner) -> None:
        """Count what the arms of another program loaded and did as that of this one."""
        self.files |= other.files
        self.tampered = self.tampered or other.tampered

    def circumstances(self, program: Program, schedule: Schedule) -> tuple[float, tuple[str, ...]]:
        """How long the arms of a schedule took together (s), and what the eager one would have changed on the disk."""
        results = [self.start(program, schedule, backend).result() for backend in (EAGER, *self.limits.backends)]
        changes = (f"{change[0]} {change[1]}" for change in results[0].changes)
        return sum(result.seconds for result in results), tuple(changes)


def _key(job: dict[str, Any]) -> str:
    """What tells a job from all that do something else."""
    return json.dumps(job, sort_keys=True)
