"""One request of an editor for experiments: from findings to verdicts, told as they arrive."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nonstrict.check.diagnostics import Presenter
from nonstrict.check.experiments import (
    by_file,
    circumstances_of,
    is_strange,
    kept_by,
    limits_of,
    one_of_each,
    processors,
    program_in,
    script_for,
    sources_of,
    suspects_of,
    unexplained_divergence,
    verdict_cache,
    verdict_of,
)
from nonstrict.check.live.warm import AgentDied, Jobs, Over, WarmAgent
from nonstrict.check.observed import Reported, observed
from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.project import Project
from nonstrict.confirm.session import Session
from nonstrict.confirm.told import Told
from nonstrict.findings import UNEXPLAINED, Diagnostic, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nonstrict.check.experiments import ConfirmOptions
    from nonstrict.check.live.verdicts import Round, Verdicts
    from nonstrict.confirm.client import Ready
    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.findings import Measured, Verdict
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

#: How often an agent may die under one program: it may be the program's doing.
_ATTEMPTS = 2


@dataclass(frozen=True, eq=False)
class Request:
    """What was asked for: the findings of a file, of one marked function if it is named, in texts that may be unsaved.

    With others `beside` them, what these do not explain is not told to be unexplained.
    `on_verdicts` is told the files of new verdicts, `on_progress` how many findings are done, of how many. It is `over`
    when it is done, or when nobody waits for it any more.
    """

    path: str
    diagnostics: Sequence[Diagnostic]
    opened: Mapping[str, Source]
    function: str
    beside: bool
    on_verdicts: Callable[[str], None]
    on_progress: Callable[[int, int], None]
    over: threading.Event = field(default_factory=threading.Event)


class Experimenter:
    """Does requests, one after another or several at once."""

    def __init__(
        self, settings: Settings, options: ConfirmOptions, python: str, agent: WarmAgent, verdicts: Verdicts
    ) -> None:
        """Remember what all requests have in common."""
        self.settings = settings
        self.options = options
        self.python = python
        self.agent = agent
        self.verdicts = verdicts

    def do(self, request: Request) -> tuple[str, ...]:
        """Run the experiments of a request; sentences about what could not be done.

        Raises:
            Over: nobody waits for it any more.
        """
        work = _Work(self, request)
        try:
            work.do()
        except AgentUnavailable as error:
            work.failures.append(f"nothing was confirmed: {error}")
        return tuple(work.failures)


class _Work:
    """One request under way."""

    def __init__(self, of: Experimenter, request: Request) -> None:
        self._of = of
        self._request = request
        function = request.function
        self._diagnostics = [one for one in request.diagnostics if not function or _is_of(one, function)]
        self._sources = sources_of(self._diagnostics, request.opened)
        self._overlays = of.verdicts.differing(request.opened)
        self._project = Project(of.settings.root, self._overlays)
        self._cache = verdict_cache(circumstances_of(of.python, of.settings), of.options, self._project)
        self._done: set[int] = set()
        self._total = 0
        self.failures: list[str] = []

    def do(self) -> None:
        """Find the programs, and try one after another."""
        suspects = suspects_of(self._diagnostics, self._sources)
        if not suspects:
            return
        self._total = len(suspects)
        self._request.on_progress(0, self._total)
        # Whatever is remembered, it will be wanted; why it cannot be started is told where it is needed.
        with contextlib.suppress(AgentUnavailable):
            self._of.agent.running()
        for path, asked in by_file(suspects).items():
            program = program_in(path, self._sources, self._of.settings, self._overlays)
            opened = self._request.opened
            round_ = self._of.verdicts.begin(path, program.text, opened) if program is not None else None
            if program is not None and round_ is not None:
                self._try(program, asked, round_)
            self._note(*(suspect.number for suspect in asked))

    def _try(self, program: Program, asked: Sequence[Suspect], round_: Round) -> None:
        """Look up the verdicts of a program, or run it; in another agent if one dies of it."""
        known = self._cache.recall(program, asked)
        if known is not None:
            self._put(round_, known.verdicts, known.kept, known.files)
            self._put_strange(round_, asked, known.verdicts, known.kept, None, known.measured)
            return
        died: AgentDied | None = None
        for _ in range(_ATTEMPTS):
            try:
                self._run(program, asked, round_, died)
            except AgentDied as error:
                died = error
            else:
                return
        if died is not None:
            raise died

    def _run(self, program: Program, asked: Sequence[Suspect], round_: Round, died: AgentDied | None) -> None:
        is_over = self._request.over.is_set
        agent, ready = self._of.agent.ready(is_over, died.agent if died is not None else None)
        jobs = Jobs(agent, is_over, priority=0 if self._request.function else 1)
        try:
            self._confirm(program, asked, round_, jobs, ready)
        finally:
            jobs.cancel()

    def _confirm(self, program: Program, asked: Sequence[Suspect], round_: Round, jobs: Jobs, ready: Ready) -> None:
        def hear(number: int, told: Told) -> None:
            # What is not proven may yet be sharpened by a backend or a driver that follows.
            status = told.judgement.status
            if status is Status.CONFIRMED or (status is Status.REFUTED and told.seconds):
                self._put(round_, {number: verdict_of(told, ready)}, {number: kept_by(told)}, session.files)
                self._note(number)

        limits = limits_of(self._of.options, ready, self._of.options.jobs or processors())
        session = Session(jobs, limits, program, hear, self._project)
        told = session.confirm(asked)
        verdicts = {number: self._verdict(session, program, number, one, ready) for number, one in told.items()}
        kept = {number: kept_by(one) for number, one in told.items()}
        self._cache.store(program, asked, verdicts, session.files, kept, session.measured)
        self._put(round_, verdicts, kept, session.files)
        strange = session.unexplained
        near = self._diagnostics[strange.number] if strange is not None else None
        if strange is not None and near is not None:
            near = near._replace(verdict=verdict_of(Told(strange.judgement), ready))
        self._put_strange(round_, asked, verdicts, kept, near, session.measured)

    def _verdict(self, session: Session, program: Program, number: int, told: Told, ready: Ready) -> Verdict:
        verdict = verdict_of(told, ready)
        directory = self._of.options.repro
        if not directory:
            return verdict
        try:
            return script_for(directory, session, program, told, self._diagnostics[number], verdict)
        except OSError as error:
            self.failures.append(f"{directory}: no script can be written there: {error.strerror}")
            return verdict

    def _put(
        self,
        round_: Round,
        verdicts: Mapping[int, Verdict],
        kept: Mapping[int, frozenset[int] | None],
        files: Iterable[str],
    ) -> None:
        """Keep verdicts, and tell the files of their findings."""
        if self._request.over.is_set():
            raise Over
        found_in = {self._diagnostics[number].location.path for number in verdicts}
        self._of.verdicts.rest_on(round_, {*files, *found_in}, self._request.opened)
        changed: set[str] = set()
        for number, verdict in verdicts.items():
            diagnostic = self._diagnostics[number]
            is_new = self._of.verdicts.put(round_, diagnostic, self._sources, verdict, kept.get(number))
            if is_new and diagnostic.code != UNEXPLAINED:
                changed.add(diagnostic.location.path)
        for path in sorted(changed):
            self._request.on_verdicts(path)

    def _put_strange(
        self,
        round_: Round,
        asked: Sequence[Suspect],
        verdicts: Mapping[int, Verdict],
        kept: Mapping[int, frozenset[int] | None],
        near: Diagnostic | None,
        measured: Sequence[Measured],
    ) -> None:
        """Keep what no finding explains or foretells, and tell its file."""
        probed = [self._diagnostics[number]._replace(verdict=verdict) for number, verdict in verdicts.items()]
        strange = one_of_each([one for one in probed if is_strange(one)] or ([near] if near is not None else []))
        strange = [] if self._request.beside else strange
        found = [*map(unexplained_divergence, strange), *self._observed(round_.path, verdicts, measured)]
        about = () if self._request.beside else (suspect.function for suspect in asked)
        functions = frozenset((*about, *(one.function for one in found)))
        known = [positions for suspect in asked if (positions := kept.get(suspect.number)) is not None]
        # Whichever of the experiments it was that diverged, it rests on no more than all of them together.
        together = frozenset[int]().union(*known) if len(known) == len(asked) else None
        if self._of.verdicts.put_strange(round_, functions, found, self._sources, together):
            self._request.on_verdicts(round_.path)

    def _observed(
        self, path: str, verdicts: Mapping[int, Verdict], measured: Sequence[Measured]
    ) -> Iterator[Diagnostic]:
        """The breaks in the file of a program that no finding names."""
        circumstances = next(iter(verdicts.values()), None)
        if circumstances is None:
            return
        sources = {**self._request.opened, **self._sources}
        reported = Reported(self._request.diagnostics, sources, Presenter(self._of.settings, {}))
        for one in observed(measured, reported, circumstances):
            if os.path.abspath(one.location.path) == path:
                yield one

    def _note(self, *numbers: int) -> None:
        """Tell how far it is."""
        before = len(self._done)
        self._done.update(numbers)
        if len(self._done) != before:
            self._request.on_progress(len(self._done), self._total)


def _is_of(diagnostic: Diagnostic, function: str) -> bool:
    """Whether a diagnostic is about a function, named as a whole or by its last part."""
    return function in {diagnostic.function, diagnostic.function.rpartition(".")[2]}


def in_absolute_paths(sources: Mapping[str, Source]) -> dict[str, Source]:
    """Sources by absolute path."""
    return {os.path.abspath(path): source for path, source in sources.items()}
