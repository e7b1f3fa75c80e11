"""Adds verdicts to the diagnostics of a run: experiments in the user's interpreter, several files at a time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.diagnostics import Presenter
from nonstrict.check.experiments import (
    ConfirmOptions,
    by_file,
    is_strange,
    kept_by,
    limits_of,
    one_of_each,
    program_in,
    script_for,
    sources_of,
    suspects_of,
    unexplained_divergence,
    verdict_cache,
    verdict_of,
    with_verdict,
)
from nonstrict.check.faults import sentences, told_of
from nonstrict.check.fleets import fleet_of
from nonstrict.check.observed import Reported, observed
from nonstrict.check.venues import venues_of
from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.compile_caches import cache_home
from nonstrict.confirm.fleet.workers import WorkerLost
from nonstrict.confirm.project import Project
from nonstrict.confirm.session import Session
from nonstrict.confirm.told import Told
from nonstrict.findings import INTERNAL_FAULT, UNEXPLAINED, Diagnostic, Status, Verdict
from nonstrict.report.summary import plural
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from nonstrict.check.venues import Venue
    from nonstrict.confirm.client import Ready
    from nonstrict.confirm.fleet.workers import Fleet, Worker
    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.findings import Measured
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

__all__ = ["ConfirmOptions", "Confirmed", "Context", "cache_home", "confirm"]

#: How many workers a program may cost: after that, it is taken for the cause.
_TRIES = 3


class Confirmed(NamedTuple):
    """The diagnostics with their verdicts, and sentences about what kept experiments from being run.

    `answers` are the questions of a run with probes (`AnalysisOptions.probes`) to which the answer was not NST900,
    `measured` the regions that were compiled. A run that was `interrupted` has the verdicts that were known by then.
    """

    diagnostics: tuple[Diagnostic, ...]
    failures: tuple[str, ...] = ()
    answers: tuple[Diagnostic, ...] = ()
    measured: tuple[Measured, ...] = ()
    interrupted: bool = False


class Context(NamedTuple):
    """What decides which breaks that no rule foretold are told.

    `known` are all findings of the run, tried or not; `nested` maps files below a further configuration file to its
    settings.
    """

    known: Sequence[Diagnostic] = ()
    nested: Mapping[str, Settings] = {}


def confirm(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, Source],
    settings: Settings,
    options: ConfirmOptions,
    context: Context | None = None,
) -> Confirmed:
    """Run the experiments of some diagnostics; those of which no run can tell keep no verdict.

    Breaks of the graph that torch told and no finding names are added (`observed`).
    """
    context = context or Context()
    read = sources_of(diagnostics, sources)
    suspects = suspects_of(diagnostics, read)
    if not suspects:
        return Confirmed(tuple(diagnostics))
    work = _Work(diagnostics, suspects, read, options)
    verdicts: dict[int, Verdict] = {}
    for venue in venues_of(suspects, Projects(settings, context.nested), options.trusted):
        verdicts |= work.done_at(venue)
    shown = [with_verdict(diagnostic, verdicts.get(number)) for number, diagnostic in enumerate(diagnostics)]
    findings = (diagnostic for diagnostic in shown if diagnostic.code != UNEXPLAINED)
    strange = one_of_each([diagnostic for diagnostic in shown if is_strange(diagnostic)] or work.unexplained)
    if any(diagnostic.code == INTERNAL_FAULT for diagnostic in diagnostics):
        strange = []  # what was lost may have been what explains it
    answers = (one for one in shown if one.code == UNEXPLAINED and one.verdict is not None and not is_strange(one))
    breaks: tuple[Diagnostic, ...] = ()
    circumstances = next(iter(verdicts.values()), None)
    if circumstances is not None:
        reported = Reported((*diagnostics, *context.known), work.sources, Presenter(settings, context.nested))
        breaks = observed(work.measured, reported, circumstances)
    told = (*findings, *breaks, *map(unexplained_divergence, strange), *work.faults)
    return Confirmed(
        told, (*work.failures, *sentences(work.faults)), tuple(answers), tuple(work.measured), work.interrupted
    )


class _Work:
    """One round of experiments: which programs there are, what is known of them already, who runs them.

    It goes from one venue to the next.
    """

    def __init__(
        self,
        diagnostics: Sequence[Diagnostic],
        suspects: Sequence[Suspect],
        sources: Mapping[str, Source],
        options: ConfirmOptions,
    ) -> None:
        self._diagnostics = diagnostics
        self.sources = sources
        self._options = options
        self._suspects = suspects
        self._done = 0
        self._settled: dict[int, Verdict] = {}
        self.interrupted = False
        self.unexplained: list[Diagnostic] = []
        self.measured: list[Measured] = []
        self.failures: list[str] = []
        self.faults: list[Diagnostic] = []

    def done_at(self, venue: Venue) -> dict[int, Verdict]:
        """The verdicts of a venue by number of diagnostic; none where no interpreter with torch or no sandbox is."""
        if self.interrupted:
            return {}
        if venue.hindrance:
            self._hindered(venue, venue.hindrance)
            return {}
        self._venue, self._project = venue, Project(venue.settings.root)
        try:
            return self._verdicts()
        except AgentUnavailable as error:
            self._hindered(venue, str(error))
            return {}

    def _hindered(self, venue: Venue, why: str) -> None:
        """Say that nothing is run at a venue: of which files, unless it is the only one."""
        files = by_file(venue.suspects)
        others = len(by_file(self._suspects)) > len(files)
        what = f" in {os.path.relpath(min(files))}" if others else ""
        what += f" and {plural(len(files) - 1, 'other file')}" if others and len(files) > 1 else ""
        self.failures.append(f"nothing{what} was confirmed: {why}")
        self._count(len(venue.suspects))

    def _verdicts(self) -> dict[int, Verdict]:
        fleet = fleet_of(self._options, self._venue.settings, self._venue.python, by_file(self._venue.suspects))
        with closing(fleet):
            try:
                self._cache = verdict_cache(fleet.circumstances(), self._options, self._project)
            except KeyboardInterrupt:
                return self._so_far()
            return self._with_fleet(fleet)

    def _with_fleet(self, fleet: Fleet) -> dict[int, Verdict]:
        verdicts: dict[int, Verdict] = {}
        open_: list[tuple[Program, list[Suspect]]] = []
        for path, suspects in by_file(self._venue.suspects).items():
            with self._losing(suspects):
                program = program_in(path, self.sources, self._venue.settings, {})
                if program is None:
                    verdicts |= {s.number: Verdict(Status.INCONCLUSIVE, "load") for s in suspects}
                    continue
                known = self._cache.recall(program, suspects)
                if known is None:
                    open_.append((program, suspects))
                else:
                    verdicts |= known.verdicts
                    self.measured += known.measured
        self._count(len(verdicts))
        if open_:
            verdicts |= self._of_open(fleet, open_)
        return verdicts

    def _of_open(self, fleet: Fleet, programs: Sequence[tuple[Program, list[Suspect]]]) -> dict[int, Verdict]:
        """The verdicts of programs of which nothing is known; where the run is interrupted, those found by then."""
        tell = self._options.on_notice
        if tell is not None:
            for notice in self._venue.notices:
                tell(notice)
        try:
            fleet.start()
        except KeyboardInterrupt:
            return self._so_far()
        verdicts: dict[int, Verdict] = {}
        with ThreadPoolExecutor(max_workers=min(fleet.slots, len(programs))) as pool:
            arms = max(1, fleet.slots // len(programs))
            waiting = [(pool.submit(self._of_program, fleet, arms, *entry), entry) for entry in programs]
            try:
                for one, (_, suspects) in waiting:
                    with self._losing(suspects):
                        verdicts |= one.result()
            except KeyboardInterrupt:
                verdicts = {**self._so_far(), **verdicts}
                pool.shutdown(wait=False, cancel_futures=True)
                fleet.close()  # ends what still runs
        return verdicts

    def _so_far(self) -> dict[int, Verdict]:
        """What is known where a run is interrupted: the findings that experiments settled."""
        self.interrupted = True
        told = dict(self._settled)
        self.failures.append(f"interrupted: experiments had settled {len(told)} of {len(self._suspects)} findings")
        return told

    def _sharpened(self, ready: Ready, number: int, told: Told) -> None:
        """Take in what is told of a finding while its experiments go on."""
        self._settled.pop(number, None)
        if told.judgement.status is not Status.INCONCLUSIVE:
            self._settled[number] = verdict_of(told, ready)

    @contextmanager
    def _losing(self, suspects: Sequence[Suspect]) -> Generator[None]:
        """Run the experiments of one program, of which an exception loses the verdicts of its findings."""
        try:
            yield
        except AgentUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary of one program; told as NST904
            location = self._diagnostics[suspects[0].number].location
            self.faults.append(told_of(error, "the findings of the file were not confirmed", location))

    def _of_program(self, fleet: Fleet, arms: int, program: Program, suspects: Sequence[Suspect]) -> dict[int, Verdict]:
        """The verdicts of one program, as many of whose arms may run at a time; from one worker, which is there."""
        why = ""
        for _ in range(_TRIES):
            if self.interrupted:
                return {}
            try:
                with fleet.lend() as worker:
                    return self._by_worker(worker, arms, program, suspects)
            except WorkerLost as error:
                why = str(error)
            except AgentUnavailable as error:
                why = str(error)
                break
            for suspect in suspects:
                self._settled.pop(suspect.number, None)
        self._count(len(suspects))
        return {suspect.number: Verdict(Status.INCONCLUSIVE, "lost", evidence=why) for suspect in suspects}

    def _by_worker(
        self, worker: Worker, arms: int, program: Program, suspects: Sequence[Suspect]
    ) -> dict[int, Verdict]:
        """The verdicts of one program.

        Raises:
            WorkerLost: the worker is gone, and with it what it told.
        """
        ready = worker.ready
        limits = limits_of(self._options, ready, min(arms, worker.slots))
        session = Session(worker, limits, program, partial(self._sharpened, ready), self._project)
        told = session.confirm(suspects)
        if self.interrupted:
            return {}  # what ended there says nothing, and is not to be kept
        verdicts = {number: verdict_of(one, ready) for number, one in told.items()}
        if self._options.repro:
            verdicts = {
                number: self._with_repro(session, program, told[number], number, one)
                for number, one in verdicts.items()
            }
        self._tell_unexplained(session, ready)
        kept = {number: kept_by(one) for number, one in told.items()}
        self._cache.store(program, suspects, verdicts, session.files, kept, session.measured)
        self.measured += session.measured
        self._count(len(suspects))
        return verdicts

    def _with_repro(self, session: Session, program: Program, told: Told, number: int, verdict: Verdict) -> Verdict:
        """A confirmed verdict with the path of the script that shows it, where there can be one."""
        try:
            return script_for(self._options.repro, session, program, told, self._diagnostics[number], verdict)
        except OSError as error:
            self.failures.append(f"{self._options.repro}: no script can be written there: {error.strerror}")
            return verdict

    def _tell_unexplained(self, session: Session, ready: Ready) -> None:
        """Keep what no finding explains."""
        if session.unexplained is None:
            return
        near = self._diagnostics[session.unexplained.number]
        verdict = verdict_of(Told(session.unexplained.judgement), ready)
        self.unexplained.append(near._replace(verdict=verdict))

    def _count(self, more: int) -> None:
        self._done += more
        if self._options.on_count is not None:
            self._options.on_count(self._done, len(self._suspects))
