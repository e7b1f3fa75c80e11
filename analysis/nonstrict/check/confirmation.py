"""Adds verdicts to the diagnostics of a run: experiments in the user's interpreter, several files at a time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.arms import Limits
from nonstrict.confirm.client import Agent, AgentUnavailable, Options
from nonstrict.confirm.devices import device_for
from nonstrict.confirm.programs import BACKENDS, Program, program_of
from nonstrict.confirm.project import Project
from nonstrict.confirm.session import Session, Told
from nonstrict.confirm.suspects import Suspect, suspect_of
from nonstrict.confirm.verdict_cache import VerdictCache
from nonstrict.findings import Diagnostic, Severity, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.confirm.client import Ready, State
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source


_PROBE = "NST900"


class ConfirmOptions(NamedTuple):
    """What a caller decides about experiments.

    `seconds` is the wall clock of one arm. `isolation` is `auto`, `copy-on-write`, `deny` or `none`, `device` is
    `auto`, `cpu` or `cuda`. `on_state` hears what the agent does, `on_count` how many findings are done, and of how
    many. `cache` allows answers of earlier runs. `repro` is a directory for scripts that show confirmed findings.
    """

    seconds: float = 60.0
    isolation: str = "auto"
    device: str = "auto"
    jobs: int = 0
    cache: bool = True
    full_import: bool = False
    repro: str = ""
    on_state: Callable[[State], None] | None = None
    on_count: Callable[[int, int], None] | None = None


class Confirmed(NamedTuple):
    """The diagnostics with their verdicts, and sentences about what kept experiments from being run.

    `answers` are the questions of a run with probes (`AnalysisOptions.probes`) to which the answer was not NST900.
    """

    diagnostics: tuple[Diagnostic, ...]
    failures: tuple[str, ...] = ()
    answers: tuple[Diagnostic, ...] = ()


def confirm(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, Source],
    settings: Settings,
    options: ConfirmOptions,
) -> Confirmed:
    """Run the experiments of some diagnostics; those of which no run can tell keep no verdict."""
    from nonstrict.rules.registry import RULES

    read = _sources(diagnostics, sources)
    suspects = [s for number, d in enumerate(diagnostics) if (s := suspect_of(number, d, RULES, read)) is not None]
    if not suspects:
        return Confirmed(tuple(diagnostics))
    work = _Work(diagnostics, suspects, read, settings, options)
    try:
        verdicts = work.done()
    except AgentUnavailable as error:
        findings = tuple(diagnostic for diagnostic in diagnostics if diagnostic.code != _PROBE)
        return Confirmed(findings, (f"nothing was confirmed: {error}",))
    shown = [_with(diagnostic, verdicts.get(number)) for number, diagnostic in enumerate(diagnostics)]
    findings = (diagnostic for diagnostic in shown if diagnostic.code != _PROBE)
    strange = _one_of_each([diagnostic for diagnostic in shown if _is_strange(diagnostic)] or work.unexplained)
    answers = (diagnostic for diagnostic in shown if diagnostic.code == _PROBE and not _is_strange(diagnostic))
    return Confirmed((*findings, *map(_unexplained, strange)), tuple(work.failures), tuple(answers))


def _one_of_each(strange: Sequence[Diagnostic]) -> list[Diagnostic]:
    """One diagnostic for each divergence of a file, that of the region if it is asked about."""
    found: dict[tuple[str, str], Diagnostic] = {}
    for diagnostic in sorted(strange, key=lambda one: one.marker != "compiled"):
        evidence = diagnostic.verdict.evidence if diagnostic.verdict is not None else ""
        found.setdefault((diagnostic.location.path, evidence), diagnostic)
    return list(found.values())


def _is_strange(diagnostic: Diagnostic) -> bool:
    verdict = diagnostic.verdict
    return diagnostic.code == _PROBE and verdict is not None and verdict.status is Status.CONFIRMED


def _unexplained(near: Diagnostic) -> Diagnostic:
    """NST900 at the marker of a function, with the verdict of a diagnostic about it."""
    whole = near.marker == "compiled"
    who = (
        f"compiled `{near.function}` disagrees with"
        if whole
        else f"code compiled with `{near.function}` disagrees with"
    )
    return Diagnostic(
        code=_PROBE,
        name="unexplained-divergence",
        severity=Severity.ERROR,
        location=near.related[0].location if near.links else near.location,
        message=f"{who} eager, and no finding explains it",
        help="look for state that static analysis does not see; if there is none, report a bug of torch",
        function=near.function,
        marker=near.marker,
        verdict=near.verdict,
    )


def _with(diagnostic: Diagnostic, verdict: Verdict | None) -> Diagnostic:
    """A diagnostic with its verdict; a refuted one counts one level less."""
    if verdict is None:
        return diagnostic
    severity = diagnostic.severity.lowered() if verdict.status is Status.REFUTED else diagnostic.severity
    return diagnostic._replace(verdict=verdict, severity=severity)


def _sources(diagnostics: Sequence[Diagnostic], known: Mapping[str, Source]) -> dict[str, Source]:
    """The sources of all files that the diagnostics point to."""
    from nonstrict.text.source import UnreadableSource, read_source

    read = dict(known)
    paths = {place.path for d in diagnostics for place in (d.location, *(r.location for r in d.related))}
    for path in sorted(paths - set(read)):
        try:
            read[path] = read_source(path)
        except UnreadableSource:
            continue
    return read


class _Work:
    """One round of experiments: which programs there are, what is known of them already, who runs them."""

    def __init__(
        self,
        diagnostics: Sequence[Diagnostic],
        suspects: Sequence[Suspect],
        sources: Mapping[str, Source],
        settings: Settings,
        options: ConfirmOptions,
    ) -> None:
        from nonstrict.check.environment import environment_of
        from nonstrict.knowledge.torch_version import interpreter

        self._diagnostics = diagnostics
        self._sources = sources
        self._settings = settings
        self._options = options
        self._project = Project(settings.root)
        self._python = interpreter(settings.python, settings.root)
        self._cache = VerdictCache(
            os.path.join(cache_home(), "verdicts"),
            (self._python, environment_of(settings).torch_version or "", options.device, options.full_import),
            enabled=options.cache and not options.repro,
            project_state=self._project.state,
        )
        self._suspects = suspects
        self._done = 0
        self.unexplained: list[Diagnostic] = []
        self.failures: list[str] = []

    def done(self) -> dict[int, Verdict]:
        """The verdicts by number of diagnostic.

        Raises:
            AgentUnavailable: there is no interpreter with torch, or no sandbox.
        """
        verdicts: dict[int, Verdict] = {}
        open_: list[tuple[Program, list[Suspect]]] = []
        for path, suspects in _by_file(self._suspects).items():
            program = self._program(path)
            if program is None:
                verdicts |= {s.number: Verdict(Status.INCONCLUSIVE, "load") for s in suspects}
                continue
            known = self._cache.load(program, suspects)
            if known is None:
                open_.append((program, suspects))
            else:
                verdicts |= known
        self._count(len(verdicts))
        if open_:
            verdicts |= self._with_agent(open_)
        return verdicts

    def _program(self, path: str) -> Program | None:
        source = next((s for name, s in self._sources.items() if os.path.abspath(name) == path), None)
        if source is None:
            return None
        makers = {
            target.partition("::")[2]: maker
            for target, maker in self._settings.inputs
            if target.partition("::")[0] == path
        }
        root = os.path.abspath(self._settings.root)
        return program_of(path, source.code, root, {}, makers, in_cells=bool(source.cells))

    def _with_agent(self, programs: Sequence[tuple[Program, list[Suspect]]]) -> dict[int, Verdict]:
        from pathlib import Path

        slots = self._options.jobs or _processors()
        cache = Path(cache_home()) / "torch"
        cache.mkdir(parents=True, exist_ok=True)
        options = Options(cache=cache, device=self._options.device, isolation=self._options.isolation, slots=slots)
        verdicts: dict[int, Verdict] = {}
        with Agent(self._python, Path(self._settings.root), options, on_state=self._options.on_state) as agent:
            ready = agent.wait_ready()
            limits = Limits(
                self._options.seconds,
                device=device_for(self._options.device, ready),
                full_import=self._options.full_import,
            )
            with ThreadPoolExecutor(max_workers=slots) as pool:
                waiting = [pool.submit(self._of_program, agent, ready, limits, *entry) for entry in programs]
                for one in waiting:
                    verdicts |= one.result()
        return verdicts

    def _of_program(
        self, agent: Agent, ready: Ready, limits: Limits, program: Program, suspects: Sequence[Suspect]
    ) -> dict[int, Verdict]:
        session = Session(agent, limits, program, project=self._project)
        told = session.confirm(suspects)
        verdicts = {number: _verdict(one, ready) for number, one in told.items()}
        if self._options.repro:
            verdicts = {
                number: self._with_repro(session, program, told[number], number, one)
                for number, one in verdicts.items()
            }
        self._tell_unexplained(session, ready)
        self._cache.store(program, suspects, verdicts, session.files)
        self._count(len(suspects))
        return verdicts

    def _with_repro(self, session: Session, program: Program, told: Told, number: int, verdict: Verdict) -> Verdict:
        """A confirmed verdict with the path of the script that shows it, where there can be one."""
        from nonstrict.confirm.repro import Proof, write_repro

        if verdict.status is not Status.CONFIRMED or told.schedule is None:
            return verdict
        proofs = {backend: one for backend, one in told.judgement.proofs if backend in BACKENDS}
        proof = Proof(program, told.schedule, session.eager(told.schedule), proofs)
        try:
            path = write_repro(self._options.repro, self._diagnostics[number], verdict, proof)
        except OSError as error:
            self.failures.append(f"{self._options.repro}: no script can be written there: {error.strerror}")
            return verdict
        return verdict._replace(repro=path)

    def _tell_unexplained(self, session: Session, ready: Ready) -> None:
        """Keep what no finding explains."""
        if session.unexplained is None:
            return
        near = self._diagnostics[session.unexplained.number]
        verdict = _verdict(Told(session.unexplained.judgement), ready)
        self.unexplained.append(near._replace(verdict=verdict))

    def _count(self, more: int) -> None:
        self._done += more
        if self._options.on_count is not None:
            self._options.on_count(self._done, len(self._suspects))


def _verdict(told: Told, ready: Ready) -> Verdict:
    judgement = told.judgement
    return Verdict(
        status=judgement.status,
        reason=judgement.reason,
        evidence=judgement.evidence,
        outcomes=judgement.outcomes,
        torch=ready.torch,
        python=ready.python,
        device=told.device,
        seconds=round(told.seconds, 2),
        files=told.files,
    )


def _by_file(suspects: Sequence[Suspect]) -> dict[str, list[Suspect]]:
    found: dict[str, list[Suspect]] = {}
    for suspect in suspects:
        found.setdefault(suspect.file, []).append(suspect)
    return found


def cache_home() -> str:
    """Where compiled kernels and verdicts are kept: the cache directory of the user (XDG base directories)."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "nonstrict")


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
